import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../start-stack';
import { up } from './up';

it('a checkout without packages says the same of npm start as a built one', () => {
  const help = up.configureOutput({ getOutHelpWidth: () => 80 }).helpInformation();
  expect(readFileSync(join(root, 'apps/simulator/up-help.txt'), 'utf8')).toBe(
    help.replace('Usage: up', 'Usage: npm start --'),
  );
});
