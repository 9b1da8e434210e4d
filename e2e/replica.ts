import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from '../apps/simulator/src/stack/child';
import { environment } from '../apps/simulator/src/config';
import { until } from '../libs/platform/src/testing/until';
import type { App } from './cluster';

/** One process of an app, which keeps its port and its folder when it is started again. */
export class Replica {
  private child: Child | null = null;
  private port = 0;

  constructor(
    readonly app: App,
    readonly name: string,
    private readonly root: string,
    private readonly logFile: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/readyz`).then(
      (response) => response.status === 200,
      () => false,
    );
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    this.port = await this.launch();
    await until(() => this.isReady());
  }

  /** SIGTERM. @returns its exit code, or the signal that ended it */
  async terminate(): Promise<number | NodeJS.Signals | null> {
    const child = this.child!;
    child.process.kill('SIGTERM');
    await child.whenEnded();
    return child.ending!.code ?? child.ending!.signal;
  }

  /** What it logged of any of these ids. */
  linesAbout(...ids: string[]): string[] {
    return readFileSync(this.logFile, 'utf8')
      .split('\n')
      .filter((line) => ids.some((id) => line.includes(id)))
      .map((line) => `${this.name} ${line}`);
  }

  async kill(): Promise<void> {
    if (!this.child || this.child.ending) return;
    this.child.process.kill('SIGKILL');
    await this.child.whenEnded();
  }

  /** Resolves with the port of the ready line. */
  private launch(): Promise<number> {
    return new Promise((resolve, reject) => {
      const child = Child.start(this.name, process.execPath, [join('apps', this.app, 'dist/main.js')], {
        cwd: this.root,
        env: { ...environment, ...this.env, PORT: String(this.port) },
        logFile: this.logFile,
        onLine: (line) => {
          if (!line.includes('"ready"')) return;
          const { event, port } = JSON.parse(line) as { event: string; port: number };
          if (event === 'ready') resolve(port);
        },
      });
      this.child = child;
      void child
        .whenEnded()
        .then(() => reject(new Error(`${this.name} ended before it was ready: ${child.lastWords}`)));
    });
  }
}
