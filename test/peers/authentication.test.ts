import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { Authentication } from '../../mail/auth/authentication.ts';
import { authenticateMessage } from '../support/authenticate-message.ts';
import { dnsServer } from '../support/dns-server.ts';
import { FILTERED_ZONE, type FilteredMail, filteredMails } from '../support/filtered-mail.ts';
import { NAME_SERVER, runWithOwnDns } from './own-resolv-conf.ts';
import { explained, reasons } from './verdict-differences.ts';

const SCRIPT = join(import.meta.dirname, 'filter_mail.py');
const MAILS = 200;

interface Said {
  dkim: { pass: boolean; domain: string; why: string }[];
  arc: string;
  dmarc: { result: string; policy: string };
}

function others(mails: readonly FilteredMail[]): Said[] {
  const input = JSON.stringify({
    records: Object.fromEntries(
      Object.entries(FILTERED_ZONE).flatMap(([name, [text]]) =>
        name.startsWith('TXT ') ? [[name.slice(4), text]] : [],
      ),
    ),
    mails: mails.map(({ message, spf }) => ({ message: message.toString('base64'), spf })),
  });
  const output = execFileSync('/usr/bin/python3', [SCRIPT], { input, encoding: 'utf8', maxBuffer: 1e8 });
  return JSON.parse(output) as Said[];
}
const mails = await filteredMails(MAILS, 20261121);

function ourselves({ message, spf }: FilteredMail): Promise<Authentication> {
  const ip = spf.result === 'pass' ? '192.0.2.1' : '198.51.100.1';
  return authenticateMessage(message.toString('latin1'), { zone: FILTERED_ZONE, ip, sender: `x@${spf.domain}` });
}

const passes = ({ dkim }: Authentication): boolean[] => dkim.map(({ result }) => result === 'pass');

test('dkimpy and authheaders give the same verdicts, or the table says why not', async () => {
  const said = others(mails);
  const used = new Set<string>();
  const strange: unknown[] = [];
  const count = { good: 0, bad: 0, chains: 0, broken: 0, aligned: 0, failed: 0 };
  for (const [at, mail] of mails.entries()) {
    const ours = await ourselves(mail);
    const theirs = said[at] ?? { dkim: [], arc: '', dmarc: { result: '', policy: '' } };
    const compare = (of: 'dkim' | 'dmarc' | 'arc', one: unknown, other: unknown): boolean => {
      if (isDeepStrictEqual(one, other)) return true;
      const why = of === 'arc' ? undefined : explained(mail, of, of === 'dkim' ? 'dkimpy' : 'authheaders');
      if (why === undefined) strange.push({ at, of, traits: mail.traits, ours: one, theirs: other });
      else used.add(why);
      return false;
    };
    compare('arc', ours.arc, theirs.arc);
    const { result, policy } = ours.dmarc;
    // Where signatures are seen in another way, so is what DMARC makes of them.
    if (
      compare(
        'dkim',
        passes(ours),
        theirs.dkim.map(({ pass }) => pass),
      )
    ) {
      compare('dmarc', { result, policy }, { ...theirs.dmarc, policy: theirs.dmarc.policy || 'none' });
    }
    count[passes(ours).includes(true) ? 'good' : 'bad'] += 1;
    if (ours.arc !== 'none') count[ours.arc === 'pass' ? 'chains' : 'broken'] += 1;
    if (result === 'pass' || result === 'fail') count[result === 'pass' ? 'aligned' : 'failed'] += 1;
  }
  expect(strange).toEqual([]);
  // They are mails of all kinds, and the table has nothing that is not met.
  for (const [kind, mailsOfIt] of Object.entries(count)) expect([kind, mailsOfIt >= 10]).toEqual([kind, true]);
  expect([...used].toSorted()).toEqual(reasons('dkimpy', 'authheaders').toSorted());
});

// It reports one result a message, so only messages with one signature are compared; its name server is at port 53.
test('opendkim gives the same verdicts, or the table says why not', async () => {
  await using dns = await dnsServer(FILTERED_ZONE, { host: NAME_SERVER, port: 53 });
  const used = new Set<string>();
  const strange: unknown[] = [];
  for (const mail of mails) {
    const ours = passes(await ourselves(mail));
    if (ours.length !== 1) continue;
    const { status, said } = await runWithOwnDns(['opendkim-testmsg'], mail.message);
    if ((status === 0) === ours[0]) continue;
    const why = explained(mail, 'dkim', 'opendkim');
    if (why === undefined) strange.push({ traits: mail.traits, ours: ours[0], said });
    else used.add(why);
  }
  expect(strange).toEqual([]);
  expect([...used].toSorted()).toEqual(reasons('opendkim').toSorted());
  expect(dns.queried.length).toBeGreaterThan(50);
});
