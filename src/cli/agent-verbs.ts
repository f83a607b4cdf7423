import { ago, formatTable } from './output.ts';
import { operationCall, withoutArguments, type Verb, oneArgument } from './verb.ts';

interface Agent {
  tokenId: string;
  name: string;
  mode: string;
  lastUsedAt: string | null;
  readToday: number;
  sentToday: number;
  heldToday: number;
}

/** Commands for agents. */
export const AGENT_VERBS: readonly Verb[] = [
  // Longer commands first: they share the prefix "agents".
  {
    words: 'agents stop',
    usage: '[--org ID]',
    about: 'Stop all agents of an organization at once',
    options: ['org'],
    parse: operationCall('stop_agents', withoutArguments),
    show: ({ held }: { held: number }) => `All agents are stopped; ${held} queued messages are held`,
  },
  {
    words: 'agents start',
    usage: '[--org ID]',
    about: 'Start all agents again',
    options: ['org'],
    parse: operationCall('start_agents', withoutArguments),
    show: () => 'Agents are active again; held mail stays held',
  },
  {
    words: 'agents release',
    usage: '[TOKEN-ID] [--org ID]',
    about: 'Release mail held when one agent, or all, were stopped',
    options: ['org'],
    parse: operationCall('release_agent_mail', ([tokenId, ...more]) =>
      more.length > 0 ? undefined : tokenId === undefined ? {} : { tokenId },
    ),
    show: ({ released, more }: { released: number; more: boolean }) =>
      `${released} messages released${more ? '; more remain, run again' : ''}`,
  },
  {
    words: 'agents mode',
    usage: 'TOKEN-ID normal|reply_only|draft_only|read_only|frozen [--org ID]',
    about: 'Set the mode of one agent',
    options: ['org'],
    parse: operationCall('set_agent_mode', ([tokenId, mode, ...more]) =>
      more.length === 0 && mode !== undefined ? { tokenId, mode } : undefined,
    ),
    show: ({ tokenId, mode }: { tokenId: string; mode: string }) => `${tokenId} is now ${mode}`,
  },
  {
    words: 'agents',
    usage: '[--org ID]',
    about: 'List agents: mode, mail read and sent in 24 hours',
    options: ['org'],
    parse: operationCall('list_agents', withoutArguments),
    show: ({ agents, stoppedAt }: { agents: Agent[]; stoppedAt: string | null }) =>
      formatTable(
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

interface Canary {
  canaryId: string;
  label: string;
  messageId: string | null;
  address: string | null;
  plantedAt: string;
  trips: { settledAt: string | null }[];
}

/** Commands for canaries. */
export const CANARY_VERBS: readonly Verb[] = [
  {
    words: 'canary plant',
    usage: 'MAILBOX LABEL [message|secret|address] [console|payments|recovery] [--org ID]',
    about: 'Create a canary in a mailbox, or a secret or address to place elsewhere',
    options: ['org'],
    parse: operationCall('plant_canary', ([mailbox, label, kind, pretext, ...more]) =>
      label === undefined || more.length > 0
        ? undefined
        : { mailbox, label, ...(kind !== undefined && { kind }), ...(pretext !== undefined && { story: pretext }) },
    ),
    show: ({ canary, honeytoken }: { canary: Canary; honeytoken: string | null }) =>
      [
        `${canary.canaryId} is created`,
        ...(canary.address === null ? [] : [`address  ${canary.address}`]),
        ...(honeytoken === null ? [] : [`secret   ${honeytoken}   (shown once)`]),
      ].join('\n'),
  },
  {
    words: 'canary list',
    usage: 'MAILBOX [--org ID]',
    about: 'List the canaries of a mailbox, with accesses',
    options: ['org'],
    parse: operationCall('list_canaries', oneArgument('mailbox')),
    show: ({ canaries }: { canaries: Canary[] }) =>
      formatTable(
        ['canary', 'label', 'address', 'created', 'accesses', 'open'],
        canaries.map(({ canaryId, label, address, plantedAt, trips }) => [
          canaryId,
          label,
          address ?? '',
          `${ago(Date.parse(plantedAt))} ago`,
          String(trips.length),
          String(trips.filter(({ settledAt }) => settledAt === null).length),
        ]),
      ),
  },
  {
    words: 'canary settle',
    usage: 'CANARY-ID [--org ID]',
    about: 'Acknowledge the accesses and re-arm a canary',
    options: ['org'],
    parse: operationCall('settle_canary', oneArgument('canaryId')),
    show: () => 'The canary is re-armed; tokens that it froze stay frozen',
  },
  {
    words: 'canary remove',
    usage: 'CANARY-ID [--org ID]',
    about: 'Delete a canary and its message',
    options: ['org'],
    parse: operationCall('remove_canary', oneArgument('canaryId')),
    show: () => 'The canary is deleted',
  },
];
