import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BackendReport } from '../testing/backend-process';
import { largestDifference } from '../testing/small-policy';
import type { BackendName } from './choose-backend';
import { PARITY_NUMBERS } from './parity-numbers';

const REGISTER = join(__dirname, '../../../../libs/platform/src/testing/register.cjs');
const PROCESS = join(__dirname, '../testing/backend-process.ts');
const SWIFTSHADER = join(__dirname, '../../../../.cache/swiftshader');
const LIMIT_MS = 300_000;
const TOLERANCE = 1e-4;

const missing = existsSync(join(SWIFTSHADER, 'vk_swiftshader_icd.json'))
  ? null
  : 'no software GPU here (npm run software-gpu)';
const software = {
  VK_ICD_FILENAMES: join(SWIFTSHADER, 'vk_swiftshader_icd.json'),
  LD_LIBRARY_PATH: SWIFTSHADER,
};

/** In a process of its own: Vulkan's loader reads the environment that the process was started with. */
function run(name: BackendName, env: Record<string, string>): { report: BackendReport | null; stderr: string } {
  const { stdout, stderr } = spawnSync(process.execPath, ['-r', REGISTER, PROCESS, name, '1'], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
  return { report: stdout === '' ? null : (JSON.parse(stdout) as BackendReport), stderr };
}

describe('onnx-webgpu', () => {
  (missing === null ? it : it.skip)(
    `trains on a software GPU what onnx trains on the CPU, within ${TOLERANCE}${missing === null ? '' : ` (skipped: ${missing})`}`,
    () => {
      const [gpu, cpu] = [run('onnx-webgpu', software), run('onnx', {})];
      if (!gpu.report || !cpu.report) throw new Error(`${gpu.stderr}\n${cpu.stderr}`);
      expect(gpu.report.backend).toBe('onnx-webgpu');
      for (const [key, right] of Object.entries(PARITY_NUMBERS)) {
        expect(Math.abs(gpu.report.parity[key]! - right)).toBeLessThan(TOLERANCE * (1 + Math.abs(right)));
      }
      const policyLoss = ({ metrics }: BackendReport): number => metrics[0]!['loss/policy']!;
      expect(Math.abs(policyLoss(gpu.report) - policyLoss(cpu.report))).toBeLessThan(TOLERANCE);
      for (const [key, values] of Object.entries(gpu.report.weights)) {
        expect([key, largestDifference(values, cpu.report.weights[key]!) < TOLERANCE]).toEqual([key, true]);
      }
    },
    LIMIT_MS,
  );

  it(
    'is refused by name where there is no GPU at all',
    () => {
      const { report, stderr } = run('onnx-webgpu', { VK_ICD_FILENAMES: '/nowhere.json' });
      expect(report).toBeNull();
      expect(stderr).toMatch(/BACKEND=onnx-webgpu does not load: .*adapter/s);
    },
    LIMIT_MS,
  );
});
