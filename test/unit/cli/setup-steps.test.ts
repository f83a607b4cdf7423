import { expect, test } from 'vitest';
import type { ControlAnswer } from '../../../src/operator-socket/client.ts';
import { runSetup, type SetupTerminal } from '../../../src/cli/setup-steps.ts';

interface FakeServer {
  claimed: boolean;
  domains: { id: string; domain: string; status: 'verified' | 'unverified' }[];
  mailboxes: { address: string }[];
  published: boolean;
}

const RECORD = { type: 'MX', name: 'shop.example', value: 'mail.box.example', priority: 10, required: true };

/** A server that keeps its state, and a person who answers in turn. */
function terminal(server: FakeServer, lines: string[] = []): SetupTerminal & { printed: string[]; asked: string[] } {
  const printed: string[] = [];
  const asked: string[] = [];
  const results: Record<string, (input: Record<string, string>) => object> = {
    create_claim_link: () => ({ url: server.claimed ? null : 'https://mail.box.example/claim' }),
    list_email_domains: () => ({ domains: server.domains }),
    add_email_domain: ({ domain = '' }) => {
      const added = { id: 'dom_1', domain, status: 'unverified' as const };
      server.domains.push(added);
      return { domain: added };
    },
    verify_email_domain: () => ({ verified: server.published }),
    list_dns_records: () => ({ records: [{ ...RECORD, status: 'missing' }] }),
    list_emails: () => ({ mailboxes: server.mailboxes }),
    provision_email: ({ localPart }) => {
      server.mailboxes.push({ address: `${localPart}@shop.example` });
      return {};
    },
  };
  return {
    printed,
    asked,
    print: (text) => void printed.push(text),
    ask(question) {
      asked.push(question);
      return Promise.resolve(lines.shift());
    },
    call(operation, input): Promise<ControlAnswer> {
      const result = results[operation]?.(input as Record<string, string>);
      if (result === undefined) return Promise.resolve({ kind: 'unreachable', message: `no ${operation}` });
      return Promise.resolve({ kind: 'done', result });
    },
  };
}

const fresh = (): FakeServer => ({ claimed: false, domains: [], mailboxes: [], published: false });
const states = (steps: { step: string; state: string }[]): string[] => steps.map((one) => `${one.step} ${one.state}`);

test('a person is asked for what is missing, and told what to publish', async () => {
  const person = terminal(fresh(), ['shop.example', 'ann']);
  expect(states(await runSetup(person, {}))).toEqual(['owner open', 'domain done', 'dns open', 'mailbox done']);
  expect(person.asked).toEqual(['Domain, such as example.com: ', 'First mailbox, before @shop.example: ']);
  expect(person.printed.join('\n')).toContain('shop.example. MX 10 mail.box.example');
  expect(person.printed.join('\n')).toContain('https://mail.box.example/claim');
});

test('flags answer for a program, and a second run changes nothing', async () => {
  const server = { ...fresh(), published: true, claimed: true };
  const flags = { domain: 'shop.example', mailbox: 'ann@shop.example' };
  const done = ['owner done', 'domain done', 'dns done', 'mailbox done'];
  for (let run = 0; run < 2; run++) {
    const script = terminal(server);
    expect(states(await runSetup(script, flags))).toEqual(done);
    expect(script.asked).toEqual([]);
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
