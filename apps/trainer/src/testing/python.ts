import { spawnSync } from 'node:child_process';

/** A Python that can import a package: that of HINDCAST_PYTHON, else `python3`; `null` where there is none. */
export function pythonWith(name: string): string | null {
  const python = process.env['HINDCAST_PYTHON'] ?? 'python3';
  return spawnSync(python, ['-c', `import ${name}`]).status === 0 ? python : null;
}
