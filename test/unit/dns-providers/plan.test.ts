import { describe, expect, test } from 'vitest';
import { type PlanInput, planChanges, planRemoval, type WrittenEntry } from '../../../src/dns-providers/plan.ts';
import type { ZoneEntry } from '../../../src/dns-providers/zone-entry.ts';
import { requiredRecords } from '../../../src/domains/records.ts';

const DOMAIN = 'example.net';
const HOST = 'mail.box.test';
const KEY = {
  selector: 'ms1',
  algorithm: 'rsa-sha256',
  text: 'v=DKIM1; p=AAAA',
  state: 'signs',
  retiredAt: null,
} as const;
const wanted = requiredRecords({ id: 1, name: DOMAIN, keys: [KEY] }, { hostname: HOST, byName: false });

function zone(...lines: string[]): ZoneEntry[] {
  return lines.map((line) => {
    const [label = '', type = '', ...rest] = line.split(' ');
    const name = label === '@' ? DOMAIN : `${label}.${DOMAIN}`;
    return { type, name, value: rest.join(' '), ttl: 300, id: line, raw: `raw ${rest.join(' ')}` };
  });
}

const input = (found: ZoneEntry[], over: Partial<PlanInput> = {}): PlanInput => ({
  wanted,
  found,
  written: [],
  authority: 'letsencrypt.org',
  domain: DOMAIN,
  hostname: HOST,
  ...over,
});

const lines = (found: ZoneEntry[], over: Partial<PlanInput> = {}): string[] =>
  planChanges(input(found, over)).map(({ action, type, name, value }) => `${action} ${type} ${name} ${value ?? ''}`);

/** The zone after the changes of a plan. */
function applied(found: readonly ZoneEntry[], steps: ReturnType<typeof planChanges>): ZoneEntry[] {
  return steps.reduce<ZoneEntry[]>(
    (all, { change }) => [
      ...all.filter((entry) => change?.remove.includes(entry) !== true),
      ...(change?.add ?? []).map((entry) => ({ ...entry, id: '', raw: entry.raw ?? `raw ${entry.value}` })),
    ],
    [...found],
  );
}

const writesOf = (steps: ReturnType<typeof planChanges>): WrittenEntry[] => steps.flatMap((one) => one.writes ?? []);
const texts = (all: readonly ZoneEntry[]): string[] =>
  all.map(({ type, name, value, ttl, raw }) => `${name} ${ttl} ${type} ${value} ${raw}`).toSorted();

describe('a plan for the records of a domain', () => {
  test('creates all of them in an empty zone, then keeps them', () => {
    const steps = planChanges(input([]));
    expect(new Set(steps.map(({ action }) => action))).toEqual(new Set(['create']));
    expect(steps).toHaveLength(wanted.length);
    const found = applied([], steps);
    const again = planChanges(input(found, { written: writesOf(steps) }));
    expect(new Set(again.map(({ action }) => action))).toEqual(new Set(['keep']));
    expect(applied(found, planRemoval({ found, written: writesOf(steps) }))).toEqual([]);
  });

  test.each([
    ['@ MX 10 mx.other.example', `conflict MX ${DOMAIN} 10 ${HOST}`],
    [
      '_dmarc TXT v=DMARC1; p=reject',
      `suggest TXT _dmarc.${DOMAIN} v=DMARC1; p=reject; rua=mailto:mailstead-reports@${DOMAIN}`,
    ],
    [
      `_dmarc TXT v=DMARC1; p=reject; rua=mailto:MAILSTEAD-reports@${DOMAIN}!10m`,
      `keep TXT _dmarc.${DOMAIN} v=DMARC1; p=reject; rua=mailto:MAILSTEAD-reports@${DOMAIN}!10m`,
    ],
    [
      '_smtp._tls TXT v=TLSRPTv1;rua=https://tls.example/in',
      `suggest TXT _smtp._tls.${DOMAIN} v=TLSRPTv1;rua=https://tls.example/in,mailto:mailstead-reports@${DOMAIN}`,
    ],
    [
      '_dmarc CNAME dmarc.reports.example',
      `conflict TXT _dmarc.${DOMAIN} v=DMARC1; p=none; rua=mailto:mailstead-reports@${DOMAIN}`,
    ],
    ['autoconfig A 192.0.2.1', `conflict CNAME autoconfig.${DOMAIN} ${HOST}`],
    ['autoconfig CNAME other.example', `conflict CNAME autoconfig.${DOMAIN} ${HOST}`],
    ['ms1._domainkey TXT v=DKIM1; p=BBBB', `conflict TXT ms1._domainkey.${DOMAIN} v=DKIM1; p=AAAA`],
    ['ms1._domainkey TXT k=rsa; p=BBBB', `conflict TXT ms1._domainkey.${DOMAIN} v=DKIM1; p=AAAA`],
    ['_imaps._tcp SRV 0 1 993 imap.other.example', `conflict SRV _imaps._tcp.${DOMAIN} 0 1 993 ${HOST}`],
    [`@ MX 5 ${HOST}`, `keep MX ${DOMAIN} 10 ${HOST}`],
    ['@ TXT site-proof=1', `create TXT ${DOMAIN} v=spf1 mx ~all`],
    ['@ TXT v=spf1 -all', `merge TXT ${DOMAIN} v=spf1 a:${HOST} -all`],
    ['@ TXT v=spf1 redirect=_spf.other.example', `merge TXT ${DOMAIN} v=spf1 a:${HOST} redirect=_spf.other.example`],
    [`@ TXT v=spf1 A:${HOST} ?all`, `keep TXT ${DOMAIN} v=spf1 A:${HOST} ?all`],
    ['@ TXT v=spf1 mx -all', `keep TXT ${DOMAIN} v=spf1 mx -all`],
    [`@ TXT v=spf1 -all a:${HOST}`, `merge TXT ${DOMAIN} v=spf1 a:${HOST} -all a:${HOST}`],
    ['@ TXT v=spf1 ip4:broken', `conflict TXT ${DOMAIN} v=spf1 mx ~all`],
    [`@ TXT v=spf1${' include:a.example'.repeat(10)} -all`, `conflict TXT ${DOMAIN} v=spf1 mx ~all`],
    ['@ CAA 0 issue "other-ca.example"', `create CAA ${DOMAIN} 0 issue "letsencrypt.org"`],
    ['@ CAA 0 issue "letsencrypt.org; validationmethods=dns-01"', `keep CAA ${DOMAIN} 0 issue "letsencrypt.org"`],
    ['@ CAA 0 issue ";"', `conflict CAA ${DOMAIN} 0 issue "letsencrypt.org"`],
  ])('with %s: %s', (there, line) => {
    expect(lines(zone(there))).toContain(line);
  });

  test('says nothing of CAA where none is there, or the authority is unknown', () => {
    expect(lines([]).some((line) => line.includes(' CAA '))).toBe(false);
    const unknown = lines(zone('@ CAA 0 issue "other-ca.example"'), { authority: undefined });
    expect(unknown.some((line) => line.includes(' CAA '))).toBe(false);
  });

  test('an mx term of others authorizes nobody here while the MX is theirs', () => {
    const found = zone('@ MX 10 mx.other.example', '@ TXT v=spf1 mx -all');
    expect(lines(found)).toContain(`merge TXT ${DOMAIN} v=spf1 a:${HOST} mx -all`);
  });

  test('several SPF records are left alone', () => {
    const found = zone('@ TXT v=spf1 mx -all', '@ TXT v=spf1 a -all');
    expect(lines(found)).toContain(`conflict TXT ${DOMAIN} v=spf1 mx ~all`);
  });

  test('replaces its own key texts by names in one go, and only once the names answer', () => {
    const texts = planChanges(input([]));
    const found = applied([], texts);
    const named = requiredRecords({ id: 1, name: DOMAIN, keys: [KEY] }, { hostname: HOST, byName: true });
    const key = `ms1._domainkey.${DOMAIN}`;
    const plan = (over: Partial<PlanInput>): ReturnType<typeof planChanges> =>
      planChanges(input(found, { wanted: named, written: writesOf(texts), ...over }));
    const at = (steps: ReturnType<typeof planChanges>): string[] =>
      steps.filter(({ name }) => name === key).map(({ action, type }) => `${action} ${type}`);
    expect(at(plan({}))).toEqual(['conflict CNAME']);
    const steps = plan({ answering: new Set([key]) });
    expect(at(steps)).toEqual(['delete TXT', 'create CNAME']);
    const first = steps.findIndex(({ name }) => name === key);
    expect(steps[first + 1]).toMatchObject({ action: 'create', type: 'CNAME', name: key });
  });

  test('never removes a record of others, and takes back exactly its own', () => {
    const found = zone(
      '@ TXT v=spf1 include:_spf.other.example ~all',
      '@ TXT site-proof=1',
      '@ CAA 0 issue "other-ca.example"',
      '_dmarc TXT v=DMARC1; p=reject',
      'autoconfig A 192.0.2.1',
      'www CNAME example.net',
    );
    const steps = planChanges(input(found));
    const after = applied(found, steps);
    const removal = planRemoval({ found: after, written: writesOf(steps) });
    expect(texts(applied(after, removal))).toEqual(texts(found));
  });

  test('replaces its own record when another value is needed, and deletes a retired one', () => {
    const first = planChanges(input([]));
    const found = applied([], first);
    const written = writesOf(first);
    const moved = wanted.map((one) => (one.purpose === 'dkim' ? { ...one, value: 'v=DKIM1; p=CCCC' } : one));
    const replaced = planChanges(input(found, { wanted: moved, written }));
    expect(replaced.filter(({ action }) => action !== 'keep')).toMatchObject([
      { action: 'replace', before: 'v=DKIM1; p=AAAA', value: 'v=DKIM1; p=CCCC' },
    ]);
    const without = planChanges(input(found, { wanted: wanted.filter(({ purpose }) => purpose !== 'dkim'), written }));
    expect(without.filter(({ action }) => action !== 'keep')).toMatchObject([
      { action: 'delete', name: `ms1._domainkey.${DOMAIN}`, value: null },
    ]);
  });

  test('a record that was changed by somebody else is theirs from then on', () => {
    const first = planChanges(input([]));
    const written = writesOf(first);
    const changed = applied([], first).map((one) =>
      one.name.startsWith('_dmarc') ? { ...one, value: 'v=DMARC1; p=reject' } : one,
    );
    expect(lines(changed, { written })).toContain(
      `suggest TXT _dmarc.${DOMAIN} v=DMARC1; p=reject; rua=mailto:mailstead-reports@${DOMAIN}`,
    );
    const left = applied(changed, planRemoval({ found: changed, written }));
    expect(left.map(({ name }) => name)).toEqual([`_dmarc.${DOMAIN}`]);
  });

  test('an SPF record that somebody changed after the merge loses only our term', () => {
    const found = zone('@ TXT v=spf1 include:_spf.other.example ~all');
    const steps = planChanges(input(found));
    const spf = `v=spf1 a:${HOST} include:_spf.other.example ip4:192.0.2.9 ~all`;
    const changed = applied(found, steps).map((one) => (one.value.startsWith('v=spf1') ? { ...one, value: spf } : one));
    const left = applied(changed, planRemoval({ found: changed, written: writesOf(steps) }));
    expect(left.map(({ value }) => value)).toEqual(['v=spf1 include:_spf.other.example ip4:192.0.2.9 ~all']);
  });

  test('two servers of one domain reach a state that both leave alone, and each can go', () => {
    const first = planChanges(input([]));
    const one = applied([], first);
    const other = (found: ZoneEntry[], written: WrittenEntry[] = []): PlanInput => {
      const hostname = 'mail.second.test';
      const records = requiredRecords(
        { id: 7, name: DOMAIN, keys: [{ ...KEY, text: 'v=DKIM1; p=ZZZZ' }] },
        { hostname, byName: false },
      );
      return input(found, { wanted: records, written, hostname });
    };
    const second = planChanges(other(one));
    const both = applied(one, second);
    for (const plan of [input(both, { written: writesOf(first) }), other(both, writesOf(second))]) {
      expect(planChanges(plan).filter(({ change }) => change !== undefined)).toEqual([]);
    }
    const gone = planRemoval({ found: both, written: writesOf(second) });
    expect(texts(applied(both, gone))).toEqual(texts(one));
  });
});
