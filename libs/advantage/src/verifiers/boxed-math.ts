import { verdictsOf, type Verifier } from './verdict';

const { abstained } = verdictsOf('boxed-math');

export const boxedMath: Verifier = () => abstained('reads nothing yet');
