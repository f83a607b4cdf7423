import { ago, table } from './table.ts';
import { asks, none, type Verb } from './verb.ts';

interface Agent {
  tokenId: string;
  name: string;
  mode: string;
  lastUsedAt: string | null;
  readToday: number;
  sentToday: number;
  heldToday: number;
}

/** Who works with a token, and how to stop them. */
export const AGENT_VERBS: readonly Verb[] = [
  // Before the shorter word, which they begin with.
  {
    words: 'agents stop',
    usage: '[--org ID]',
    about: 'Stop all agents of an organization at once',
    options: ['org'],
    ask: asks('stop_agents', none),
    show: ({ held }: { held: number }) => `All agents are stopped; ${held} of what they sent and had not left is held`,
  },
  {
    words: 'agents start',
    usage: '[--org ID]',
    about: 'Let them work again',
    options: ['org'],
    ask: asks('start_agents', none),
    show: () => 'Agents may work again; what was held stays held',
  },
  {
    words: 'agents release',
    usage: '[TOKEN-ID] [--org ID]',
    about: 'Let go what was held when one agent, or all, were stopped',
    options: ['org'],
    ask: asks('release_agent_mail', ([tokenId, ...more]) =>
      more.length > 0 ? undefined : tokenId === undefined ? {} : { tokenId },
    ),
    show: ({ released, more }: { released: number; more: boolean }) =>
      `${released} of what was held goes on${more ? '; there is more, ask again' : ''}`,
  },
  {
    words: 'agents mode',
    usage: 'TOKEN-ID normal|reply_only|draft_only|read_only|frozen [--org ID]',
    about: 'Set how one agent may work',
    options: ['org'],
    ask: asks('set_agent_mode', ([tokenId, mode, ...more]) =>
      more.length === 0 && mode !== undefined ? { tokenId, mode } : undefined,
    ),
    show: ({ tokenId, mode }: { tokenId: string; mode: string }) => `${tokenId} is ${mode} now`,
  },
  {
    words: 'agents',
    usage: '[--org ID]',
    about: 'Who works with a token: mode, what it read and sent in 24 hours',
    options: ['org'],
    ask: asks('list_agents', none),
    show: ({ agents, stoppedAt }: { agents: Agent[]; stoppedAt: string | null }) =>
      table(
        ['token', 'name', 'mode', 'last used', 'read', 'sent', 'held'],
        agents.map((one) => [
          one.tokenId,
          one.name,
          stoppedAt === null ? one.mode : 'stopped',
          one.lastUsedAt === null ? 'never' : `${ago(Date.parse(one.lastUsedAt))} ago`,
          String(one.readToday),
          String(one.sentToday),
          String(one.heldToday),
        ]),
      ),
  },
];
