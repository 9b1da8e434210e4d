import { verdictsOf, type Verifier } from './verdict';

const { abstained } = verdictsOf('http-status');

export const httpStatus: Verifier = () => abstained('reads nothing yet');
