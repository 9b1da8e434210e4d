import { schemaTwins } from './broken-objects';
import { containerTwins } from './broken-containers';
import { placementTwins } from './broken-placement';
import { environmentTwins } from './broken-environment';
import { busTwins } from './broken-bus';
import { networkTwins } from './broken-network';
import { targetTwins } from './broken-targets';
import { referenceTwins, volumeTwins } from './broken-references';
import type { BrokenManifests } from './broken-by';

/** At least one fault for each rule. */
export const brokenManifests: readonly BrokenManifests[] = [
  ...schemaTwins,
  ...containerTwins,
  ...placementTwins,
  ...environmentTwins,
  ...busTwins,
  ...networkTwins,
  ...targetTwins,
  ...referenceTwins,
  ...volumeTwins,
];
