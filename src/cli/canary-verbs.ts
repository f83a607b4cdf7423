import { ago, table } from './table.ts';
import { asks, one, type Verb } from './verb.ts';

interface Canary {
  canaryId: string;
  label: string;
  messageId: string | null;
  address: string | null;
  plantedAt: string;
  trips: { settledAt: string | null }[];
}

/** What lies in mailboxes for nobody to open. */
export const CANARY_VERBS: readonly Verb[] = [
  {
    words: 'canary plant',
    usage: 'MAILBOX LABEL [message|secret|address] [console|payments|recovery] [--org ID]',
    about: 'Plant a canary in a mailbox, or have a secret or an address to plant elsewhere',
    options: ['org'],
    ask: asks('plant_canary', ([mailbox, label, kind, story, ...more]) =>
      label === undefined || more.length > 0
        ? undefined
        : { mailbox, label, ...(kind !== undefined && { kind }), ...(story !== undefined && { story }) },
    ),
    show: ({ canary, honeytoken }: { canary: Canary; honeytoken: string | null }) =>
      [
        `${canary.canaryId} is planted`,
        ...(canary.address === null ? [] : [`address  ${canary.address}`]),
        ...(honeytoken === null ? [] : [`secret   ${honeytoken}   (shown once)`]),
      ].join('\n'),
  },
  {
    words: 'canary list',
    usage: 'MAILBOX [--org ID]',
    about: 'The canaries of a mailbox, and how many went to each',
    options: ['org'],
    ask: asks('list_canaries', one('mailbox')),
    show: ({ canaries }: { canaries: Canary[] }) =>
      table(
        ['canary', 'label', 'address', 'planted', 'tripped', 'to look at'],
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
    about: 'Note that you looked at who went to it, and watch it again',
    options: ['org'],
    ask: asks('settle_canary', one('canaryId')),
    show: () => 'It is watched again; tokens that it froze stay frozen',
  },
  {
    words: 'canary remove',
    usage: 'CANARY-ID [--org ID]',
    about: 'Remove a canary, and its message from the mailbox',
    options: ['org'],
    ask: asks('remove_canary', one('canaryId')),
    show: () => 'The canary is removed',
  },
];
