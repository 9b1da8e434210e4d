import { loraTuning } from '../testing/fixtures';
import { settingsToGoOn } from './tuning-match';
import type { Tuning } from './tuning';

describe('settingsToGoOn', () => {
  it.each<{ trained: Tuning; wanted: Tuning; settings: string | null; why: string }>([
    { trained: loraTuning(), wanted: loraTuning(), settings: null, why: 'the same' },
    { trained: { kind: 'full' }, wanted: { kind: 'full' }, settings: null, why: 'every weight has its place' },
    {
      trained: loraTuning({ dropout: 0.1 }),
      wanted: loraTuning({ dropout: 0 }),
      settings: null,
      why: 'dropout leaves no trace in the weights',
    },
    {
      trained: loraTuning({ targets: ['q_proj', 'v_proj'] }),
      wanted: loraTuning({ targets: ['v_proj', 'q_proj'] }),
      settings: null,
      why: 'targets are a set',
    },
    {
      trained: loraTuning({ rank: 2, alpha: 4 }),
      wanted: loraTuning({ rank: 8, alpha: 4 }),
      settings: 'LORA_RANK=2',
      why: 'other matrices',
    },
    {
      trained: loraTuning({ alpha: 4, isRankStabilised: true }),
      wanted: loraTuning({ alpha: 16 }),
      settings: 'LORA_ALPHA=4 LORA_RANK_STABILISED=1',
      why: 'another scale',
    },
    {
      trained: loraTuning({ targets: ['v_proj', 'q_proj'] }),
      wanted: loraTuning(),
      settings: 'LORA_TARGETS=q_proj,v_proj',
      why: 'other modules',
    },
    { trained: { kind: 'full' }, wanted: loraTuning(), settings: 'TUNING=full', why: 'a model is no adapter' },
    {
      trained: loraTuning({ targets: ['q_proj'] }),
      wanted: { kind: 'full' },
      settings: 'TUNING=lora LORA_RANK=2 LORA_ALPHA=4 LORA_TARGETS=q_proj LORA_RANK_STABILISED=0',
      why: 'an adapter is no model',
    },
  ])('$settings: $why', ({ trained, wanted, settings }) => {
    expect(settingsToGoOn({ tuning: trained }, wanted)).toBe(settings);
  });

  it('says nothing of a manifest that does not tell', () => {
    expect(settingsToGoOn({}, loraTuning())).toBeNull();
  });
});
