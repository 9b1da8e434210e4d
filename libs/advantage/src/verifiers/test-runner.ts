import { verdictsOf, type Verifier } from './verdict';

const { abstained } = verdictsOf('test-runner');

export const testRunner: Verifier = () => abstained('reads nothing yet');
