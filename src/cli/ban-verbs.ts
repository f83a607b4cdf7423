import { ago, table } from './table.ts';
import { asks, none, one, type Verb } from './verb.ts';

interface Ban {
  network: string;
  reason: string;
  times: number;
  since: string;
  until: string;
}

/** Networks that are shut out. */
export const BAN_VERBS: readonly Verb[] = [
  // Before the shorter words, which it begins with.
  {
    words: 'bans lift',
    usage: 'ADDRESS',
    about: 'Let a network in again, and forget its failed logins',
    ask: asks('remove_ban', one('address')),
    show: ({ removed, network }: { removed: boolean; network: string }) =>
      removed
        ? `${network} may come in again`
        : `${network} was not shut out; its failed logins are forgotten, so it may log in again`,
  },
  {
    words: 'bans',
    usage: '',
    about: 'Networks that are shut out, what for and until when',
    ask: asks('list_bans', none),
    pages: 'bans',
    show: ({ bans }: { bans: Ban[] }) =>
      table(
        ['network', 'what for', 'times', 'since', 'until'],
        bans.map(({ network, reason, times, since, until }) => [
          network,
          reason,
          String(times),
          `${ago(Date.parse(since))} ago`,
          until,
        ]),
      ),
  },
];
