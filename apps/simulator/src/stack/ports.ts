import { createServer } from 'node:net';

/** Whether a TCP port of the loopback interface is free right now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The wished-for port when it is free, else 0: the service then takes any free one and says which. */
export const freeOrAny = async (port: number): Promise<number> => ((await isFree(port)) ? port : 0);
