import { setTimeout as delay } from 'node:timers/promises';
import { run } from './run.ts';

/** Generous, because the machine may be busy. */
const PATIENCE_MS = 100_000;

/** A terminal that somebody looks at and types on. */
export interface Terminal extends AsyncDisposable {
  /** Waits until this is on the screen, and answers the screen. */
  sees(text: string): Promise<string>;
  /** Types keys, named as tmux names them. */
  type(...keys: string[]): Promise<void>;
  /** Types a text as it stands. */
  write(text: string): Promise<void>;
}

/** Runs a program on a terminal of its own. */
export async function openTerminal(
  socket: string,
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Terminal> {
  const tmux = (...args: string[]) => run('/usr/bin/tmux', ['-S', socket, '-f', '/dev/null', ...args], { env });
  await tmux('new-session', '-d', '-x', '140', '-y', '50', ...command);
  return {
    async sees(text) {
      const late = performance.now() + PATIENCE_MS;
      for (;;) {
        const { out } = await tmux('capture-pane', '-p');
        const screen = Buffer.from(out, 'latin1').toString();
        if (screen.includes(text)) return screen;
        if (performance.now() > late) throw new Error(`never saw ${JSON.stringify(text)}:\n${screen}`);
        await delay(100); // a terminal has no event for what is on it
      }
    },
    async type(...keys) {
      await tmux('send-keys', ...keys);
    },
    async write(text) {
      await tmux('send-keys', '-l', text);
    },
    async [Symbol.asyncDispose]() {
      await tmux('kill-server');
    },
  };
}
