import { describe, expect, test } from 'vitest';
import type { ControlAnswer } from '../../../src/operator-socket/client.ts';
import { runSetup } from '../../../src/cli/setup-steps.ts';
import type { SetupTerminal } from '../../../src/cli/setup-terminal.ts';

interface FakeServer {
  claimed: boolean;
  domains: { id: string; domain: string; status: 'verified' | 'unverified' }[];
  mailboxes: { address: string }[];
  published: boolean;
  /** Connected DNS provider, and what its zone would change. */
  connected: object | null;
  changes: { action: string; type: string; name: string; value: string; before: string | null; why: string | null }[];
  devices: { name: string }[];
  /** Lookups until published records are visible. */
  unseen: number;
  /** DS record, where the name servers of the domain lead here. */
  ds?: string;
}

const RECORD = { type: 'MX', name: 'shop.example', value: 'mail.box.example', priority: 10, required: true };
const SPF = {
  type: 'TXT',
  name: 'shop.example',
  value: 'v=spf1 mx ~all',
  required: true,
  status: 'mismatch',
  why: 'the record has -all',
};
const DESEC = {
  provider: 'desec',
  title: 'deSEC',
  scope: 'a token that may write the domain',
  credentials: [{ name: 'token', label: 'Token', secret: true, optional: false }],
};

/** A server that keeps its state, and a person who answers in turn. */
function terminal(server: FakeServer, lines: string[] = []): SetupTerminal & { printed: string[]; queried: string[] } {
  const printed: string[] = [];
  const queried: string[] = [];
  const results: Record<string, (input: Record<string, unknown>) => object | string> = {
    create_claim_link: () => ({ url: server.claimed ? null : 'https://mail.box.example/claim' }),
    list_email_domains: () => ({ domains: server.domains }),
    add_email_domain: ({ domain }) => {
      const added = { id: 'dom_1', domain: String(domain), status: 'unverified' as const };
      server.domains.push(added);
      return { domain: added };
    },
    verify_email_domain: () => ({ verified: server.published && server.unseen-- <= 0 }),
    list_dns_records: () => ({ records: [{ ...RECORD, status: 'missing' }, SPF] }),
    get_dns_provider: () => ({
      connected: server.connected,
      providers: [{ ...DESEC, provider: 'other', title: 'Other' }, DESEC],
    }),
    connect_dns_provider: ({ provider, credentials }) => {
      if (JSON.stringify([provider, credentials]) !== '["desec",{"token":"right"}]') return 'deSEC refused the token.';
      server.connected = DESEC;
      return {};
    },
    preview_dns_changes: () => ({ changes: server.changes }),
    publish_dns_records: () => {
      server.published = true;
      return { changes: server.changes };
    },
    apply_managed_dns: () => ({
      managed: server.ds !== undefined,
      ds: server.ds ?? null,
      next: 'Set the name server of shop.example to ns; then call this again.',
    }),
    list_emails: () => ({ mailboxes: server.mailboxes }),
    provision_email: ({ localPart }) => {
      server.mailboxes.push({ address: `${String(localPart)}@shop.example` });
      return {};
    },
    list_app_passwords: () => ({ appPasswords: server.devices }),
    create_device_link: ({ address, name }) => ({
      url: `https://mail.box.example/auth/device?token=${String(address)}-${String(name)}`,
      expiresAt: '2026-01-01T00:00:00Z',
    }),
  };
  const ask = (question: string): Promise<string | undefined> => {
    queried.push(question);
    return Promise.resolve(lines.shift());
  };
  return {
    printed,
    queried,
    print: (text) => void printed.push(text),
    ask,
    askSecret: ask,
    wait: () => Promise.resolve(),
    call(operation, input): Promise<ControlAnswer> {
      const result = results[operation]?.(input as Record<string, unknown>);
      if (result === undefined) return Promise.resolve({ kind: 'unreachable', message: `no ${operation}` });
      if (typeof result === 'string') return Promise.resolve({ kind: 'refused', code: 'conflict', message: result });
      return Promise.resolve({ kind: 'done', result });
    },
  };
}

const NEW = { action: 'create', type: 'MX', name: 'shop.example', value: '10 mail', before: null, why: null };
const MERGED = { ...NEW, action: 'merge', type: 'TXT', value: 'v=spf1 mx -all', before: 'v=spf1 -all', why: 'added' };
const fresh = (): FakeServer => ({
  claimed: false,
  domains: [],
  mailboxes: [],
  published: false,
  connected: null,
  changes: [NEW],
  devices: [],
  unseen: 0,
});
/** With the domain and its mailbox. */
const begun = (): FakeServer => ({
  ...fresh(),
  claimed: true,
  domains: [{ id: 'dom_1', domain: 'shop.example', status: 'unverified' }],
  mailboxes: [{ address: 'ann@shop.example' }],
});
const dnsOf = (steps: { step: string; state: string; detail: string }[]) => steps.find(({ step }) => step === 'dns');
const states = (steps: { step: string; state: string }[]): string[] => steps.map((one) => `${one.step} ${one.state}`);

test('a person is asked for what is missing, and shown what to publish', async () => {
  const person = terminal(fresh(), ['shop.example', '3', 'ann', '']);
  const steps = ['owner open', 'domain done', 'dns open', 'mailbox done', 'phone open'];
  expect(states(await runSetup(person, {}))).toEqual(steps);
  expect(person.queried.map((one) => one.slice(0, 14))).toEqual([
    'Domain, such a',
    'Number: ',
    'First mailbox,',
    'Phone to set u',
  ]);
  expect(person.printed.join('\n')).toContain('shop.example. MX 10 mail.box.example');
  expect(person.printed.join('\n')).toContain('now: the record has -all');
  expect(person.printed.at(-1)).toMatch(/^Still open:\n +owner .*claim\n +dns .*$/);
  expect(person.printed.join('\n')).toContain('https://mail.box.example/claim');
});

test('flags answer for a program, and a second run changes nothing', async () => {
  const server = { ...fresh(), published: true, claimed: true, devices: [{ name: 'phone' }] };
  const flags = { domain: 'shop.example', mailbox: 'ann@shop.example' };
  const done = ['owner done', 'domain done', 'dns done', 'mailbox done', 'phone done'];
  for (let run = 0; run < 2; run++) {
    const script = terminal(server);
    expect(states(await runSetup(script, flags))).toEqual(done);
    expect(script.queried).toEqual([]);
  }
  expect([server.domains.length, server.mailboxes.length]).toEqual([1, 1]);
});

test('without a person and without flags it says what to name, and makes nothing', async () => {
  const server = fresh();
  const steps = await runSetup(terminal(server), {});
  expect(steps.at(-1)).toMatchObject({ step: 'domain', state: 'open', detail: expect.stringContaining('--domain') });
  expect(server.domains).toEqual([]);
});

test('a refusal of the server ends it with the sentence of the server', async () => {
  const broken = {
    ...terminal(fresh()),
    call: () => Promise.resolve({ kind: 'unreachable', message: 'No server runs.' } as const),
  };
  await expect(runSetup(broken, {})).rejects.toThrow('No server runs.');
});

describe('a DNS provider', () => {
  test('is chosen, its token queried again when it is refused, and new records are published until they are seen', async () => {
    const server = { ...begun(), unseen: 3 };
    const person = terminal(server, ['1', '7', '2', 'wrong', 'right', '']);
    expect(dnsOf(await runSetup(person, {}))).toMatchObject({ state: 'done' });
    expect(person.queried).toEqual([
      'Number: ',
      'Number: ',
      'Number: ',
      'Token: ',
      'Token: ',
      expect.stringContaining('Phone'),
    ]);
    const shown = person.printed.join('\n');
    for (const text of ['Type a number from 1 to 2', 'deSEC needs: a token', 'deSEC refused the token.'])
      expect(shown).toContain(text);
  });

  test.each([
    ['y', 'done', true],
    ['n', 'open', false],
    [undefined, 'open', false],
  ])('changes what others wrote only after a yes: %s', async (answer, state, published) => {
    const server = { ...begun(), connected: DESEC, changes: [NEW, MERGED] };
    const person = terminal(server, answer === undefined ? [] : [answer, '']);
    expect(dnsOf(await runSetup(person, {}))?.state).toBe(state);
    expect(server.published).toBe(published);
    expect(person.printed.join('\n')).toContain('merge TXT shop.example: v=spf1 mx -all, now v=spf1 -all (added)');
  });

  test('of the flags is connected without a question, and a refusal ends it', async () => {
    const server = begun();
    const provider = { id: 'desec', credentials: { token: 'right' } };
    expect(dnsOf(await runSetup(terminal(server), { provider }))).toMatchObject({ state: 'done' });
    const wrong = { id: 'desec', credentials: { token: 'wrong' } };
    await expect(runSetup(terminal(begun()), { provider: wrong })).rejects.toThrow('deSEC refused the token.');
  });

  test('says when the records are published and not visible yet', async () => {
    const step = dnsOf(await runSetup(terminal({ ...begun(), connected: DESEC, unseen: 99 }), {}));
    expect(step).toMatchObject({ state: 'open', detail: expect.stringContaining('not visible to all yet') });
  });
});

test('this server as name server: says what to set at the registrar', async () => {
  const step = dnsOf(await runSetup(terminal(begun(), ['2', '']), {}));
  expect(step).toMatchObject({ state: 'open', detail: expect.stringContaining('to ns; then run this again') });
});

test('this server as name server: is done where the domain leads here, with the DS record to publish', async () => {
  const person = terminal({ ...begun(), published: true, unseen: 1, ds: '1 13 2 AB' }, ['2', '']);
  expect(dnsOf(await runSetup(person, {}))).toMatchObject({ state: 'done' });
  expect(person.printed).toContain('      For DNSSEC, publish at the registrar: shop.example. DS 1 13 2 AB');
});

test('a phone gets a code and a link, by its name', async () => {
  const person = terminal({ ...begun(), published: true }, ['phone of Kim']);
  const phone = (await runSetup(person, {})).at(-1);
  expect(phone).toMatchObject({
    step: 'phone',
    state: 'open',
    detail: expect.stringContaining('token=ann@shop.example-phone of Kim'),
  });
  expect(person.printed.join('\n')).toMatch(/\u2580|\u2584/);
  const flags = terminal({ ...begun(), published: true, devices: [{ name: 'old' }] });
  expect((await runSetup(flags, { device: 'new' })).at(-1)?.detail).toContain('-new');
});
