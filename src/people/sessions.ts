import type { World } from '../operations/world.ts';
import { newSecret } from './secrets.ts';
import { openSession } from './session-commands.ts';

const LONGEST_AGENT = 200;

/** From where somebody signs in. */
export interface Browser {
  ip: string;
  /** User-Agent, so that a person knows the session again. */
  agent: string;
  /** Hash of the session that the browser has now. */
  before: Uint8Array | null;
}

/** Begins a session; answers what the cookie carries. Never the value that the browser came with. */
export async function beginSession({ store }: Pick<World, 'store'>, user: number, browser: Browser): Promise<string> {
  const { secret, hash } = newSecret();
  const agent = browser.agent.replace(/[^\x20-\x7e]/g, '').slice(0, LONGEST_AGENT);
  await store.write(openSession, { user, hash, ip: browser.ip, agent, before: browser.before });
  return secret;
}
