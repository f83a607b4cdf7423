import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { submit } from '../../mail/delivery/submission-commit.ts';
import { recordCorrespondents } from '../../mail/store/limit/budget.ts';
import { type Command, command } from '../../mail/store/engine/types.ts';
import { DRAFT, SEEN } from '../../mail/store/mailbox/flags.ts';
import { rowId } from '../../src/core/ids.ts';
import { anonymousCaller, type Caller, operatorCaller } from '../../src/core/caller.ts';
import { findOperation } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/core/operation.ts';
import { perform, type OperationOutcome } from '../../src/operations/perform.ts';
import { releaseMessage } from '../../src/operations/quarantine/release.ts';
import { getMessageSource } from '../../src/operations/reading/source.ts';
import { getServiceEnvironment } from '../../src/operations/services/environment.ts';
import { followEvents } from '../../src/operations/waiting/event-stream.ts';
import { watchResources } from '../../src/operations/waiting/subscription.ts';
import type { TestContext } from './world.ts';
import { insertMember, insertPendingUser } from '../../src/people/commands.ts';
import { authenticateToken } from '../../src/tokens/authenticate.ts';
import { proveOwner } from './people.ts';
import { unlimitedSubmission, outgoing } from './submission.ts';
import { fakeResolver } from './fake-resolver.ts';
import { putMail } from './put-mail.ts';
import { onPostgres } from './test-database.ts';
import { type TestWorld, testWorld } from './world.ts';

/** The resources of one project of an organization, by the names of arguments of operations. */
export interface Things {
  organizationId: string;
  slug: string;
  projectId: string;
  domainId: string;
  domain: string;
  mailboxId: string;
  /** Left out: its first. */
  draftId?: string;
  address: string;
  serviceId: string;
  /** Deleted, and can be restored. */
  deletedMailboxId: string;
  deletedServiceId: string;
  apiKeyId: string;
  forwarderId: string;
  aliasId: string;
  importId: string;
  ruleId: string;
  /** Belongs to the organization. */
  policyId: string;
  /** Belongs to the organization. */
  webhookId: string;
  sourceAddress: string;
  destinationAddress: string;
  routeId: string;
  /** One row that waits and one that is held. */
  queueId: string;
  heldId: string;
  /** Messages for tomorrow: one as what was sent, another as what waits. */
  sentId: string;
  outboxId: string;
  templateId: string;
  appPasswordId: string;
  tokenId: string;
  /** Belongs to the whole organization. */
  userId: string;
  activeKeyId: string;
  pendingKeyId: string;
  pendingSignature: string;
}

/** A whole organization, made through operations, with two projects that hold the same kinds of things. */
export interface Tenant {
  /** In the name of everything that it has. */
  word: string;
  secret: string;
  caller: Caller;
  main: Things;
  side: Things;
}

type Result = Record<string, unknown>;

export class Tenants implements AsyncDisposable {
  readonly #test: TestWorld;
  readonly a: Tenant;
  readonly b: Tenant;

  constructor(test: TestWorld, a: Tenant, b: Tenant) {
    this.#test = test;
    this.a = a;
    this.b = b;
  }

  get world(): TestContext {
    return this.#test.world;
  }

  get clock(): { now: number } {
    return this.#test.store.clock;
  }

  get dataDir(): string {
    return this.#test.store.dataDir;
  }

  /** Does an operation by its name, whatever comes of it. */
  try(name: string, args: object, caller: Caller = this.a.caller): Promise<OperationOutcome> {
    return perform(this.world, operationOf(name), caller, args);
  }

  /** The result; throws the refusal. */
  do(name: string, args: object = {}, caller: Caller = this.a.caller): Promise<Result> {
    return done(this.world, name, args, caller);
  }

  /** The caller of a new token of an organization. */
  async caller(args: object, by: Caller = this.a.caller): Promise<Caller> {
    const { secret } = await this.do('create_agent_token', { name: 'limited', ...args }, by);
    return callerOf(this.world, String(secret));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#test[Symbol.asyncDispose]();
  }
}

/** A closed world with two organizations, which others are copies of. */
interface TenantsTemplate {
  dataDir: string;
  key: Buffer;
  tenants: readonly Tenant[];
}

let template: Promise<TenantsTemplate> | undefined;

/**
 * Two organizations of strangers in a world of their own, none of them the operator's. `over` replaces parts of it, `more` are
 * commands of a test. Where nothing is replaced they are copies of those that the process made first: what they need takes
 * fifty operations.
 */
export async function twoTenants(
  over: Partial<TestContext> = {},
  more: readonly Command<never, unknown>[] = [],
): Promise<Tenants> {
  if (onPostgres || Object.keys(over).length > 0) return makeTenants(await tenantsWorld(over, more));
  const { tenants, ...from } = await (template ??= makeTemplate());
  const test = await tenantsWorld({}, more, from);
  const [a, b] = await Promise.all(
    tenants.map(async (tenant) => ({ ...tenant, caller: await callerOf(test.world, tenant.secret) })),
  );
  if (a === undefined || b === undefined) throw new Error('the template has no two organizations');
  return new Tenants(test, a, b);
}

async function makeTenants(test: TestWorld): Promise<Tenants> {
  return new Tenants(test, await makeTenant(test.world, 'alpha'), await makeTenant(test.world, 'bravo'));
}

function tenantsWorld(
  over: Partial<TestContext>,
  more: readonly Command<never, unknown>[],
  from?: Omit<TenantsTemplate, 'tenants'>,
): Promise<TestWorld> {
  const lookUp = fakeResolver({ 'A hooks.example.net': ['198.41.0.4'] });
  return testWorld({ resolver: lookUp, lookNow: lookUp, ...over }, [addPerson, addContact, proveOwner, ...more], from);
}

async function makeTemplate(): Promise<TenantsTemplate> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailstead-tenants-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  await using test = await tenantsWorld({}, []);
  const { a, b } = await makeTenants(test);
  // Nothing writes meanwhile: the database is copied with its log.
  cpSync(test.store.dataDir, dataDir, { recursive: true });
  return { dataDir, key: test.secretKey, tenants: [a, b] };
}

/** Operations that are no tools. */
export const UNLISTED: readonly Operation[] = [
  getServiceEnvironment,
  getMessageSource,
  watchResources,
  followEvents,
  releaseMessage,
];

export function operationOf(name: string): Operation {
  const found = UNLISTED.find((one) => one.name === name) ?? findOperation(name);
  if (found === undefined) throw new Error(`no operation is called ${name}`);
  return found;
}

export async function callerOf(world: TestContext, secret: string): Promise<Caller> {
  const who = await authenticateToken(world, `Bearer ${secret}`, 'mcp', '127.0.0.1');
  if (who.kind !== 'caller') throw new Error('the token does not hold');
  return who.caller;
}

async function done(world: TestContext, name: string, args: object, caller: Caller): Promise<Result> {
  const outcome = await perform(world, operationOf(name), caller, args);
  if (outcome.kind === 'done') return outcome.result;
  throw new Error(`${name}: ${JSON.stringify(outcome.refusal)}`);
}

async function makeTenant(world: TestContext, word: string): Promise<Tenant> {
  const owner = { ownerEmail: `owner@${word}-home.test`, organizationName: `${word} inc` };
  const made = await done(world, 'create_account_and_claim_link', owner, anonymousCaller('mcp', '127.0.0.1'));
  await world.store.write(proveOwner, owner.ownerEmail);
  const secret = String(made['token']);
  const caller = await callerOf(world, secret);
  const call = (name: string, args: object): Promise<Result> => done(world, name, args, caller);
  const organizationId = String((made['organization'] as Result)['id']);
  const slug = String((made['organization'] as Result)['slug']);
  const organization = rowId('organization', organizationId) ?? 0;
  const user = await world.store.write(addPerson, { organization, email: `admin@${word}-home.test` });
  const active = await recoveryKey(call, `${word} first key`);
  await call('verify_recovery_key', { keyId: active.keyId, signature: active.signature });
  const pending = await recoveryKey(call, `${word} second key`);
  const whole = {
    organizationId,
    slug,
    userId: `usr_${user}`,
    policyId: await policyOf(world, organizationId, word),
    activeKeyId: active.keyId,
    pendingKeyId: pending.keyId,
    pendingSignature: pending.signature,
  };
  const main = await makeThings(world, call, `${word}-main`, whole);
  const side = await makeThings(world, call, `${word}-side`, whole);
  return { word, secret, caller, main, side };
}

async function recoveryKey(
  call: (name: string, args: object) => Promise<Result>,
  label: string,
): Promise<{ keyId: string; signature: string }> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { keyId, challenge } = await call('register_recovery_key', { label, publicKey: spki(publicKey) });
  const octets = Buffer.from(String(challenge), 'base64url');
  return { keyId: String(keyId), signature: sign(null, octets, privateKey).toString('base64') };
}

export function spki(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

type Whole = Pick<
  Things,
  'organizationId' | 'slug' | 'userId' | 'policyId' | 'activeKeyId' | 'pendingKeyId' | 'pendingSignature'
>;

async function makeThings(
  world: TestContext,
  call: (name: string, args: object) => Promise<Result>,
  word: string,
  whole: Whole,
): Promise<Things> {
  const get = async (name: string, args: object, of: string, id = 'id'): Promise<string> =>
    String(((await call(name, args))[of] as Result)[id]);
  const domain = `${word}.test`;
  const address = `anna@${domain}`;
  const projectId = await get('create_project', { name: `${word} project` }, 'project');
  const domainId = await get('add_email_domain', { projectId, domain }, 'domain');
  await call('verify_email_domain', { domainId });
  const mailboxId = await get('provision_email', { domainId, localPart: 'anna', displayName: word }, 'mailbox');
  const serviceId = await get('create_service', { projectId, name: `${word} service` }, 'service');
  await call('deploy_service', { serviceId, env: { TITLE: word }, spec: { title: word } });
  await call('attach_email_to_service', { mailboxId, serviceId });
  await call('set_email_inbound_webhook', { mailboxId, url: `https://hooks.example.net/${word}` });
  const forward = { sourceAddress: address, destinationAddress: `boss@${word}.example` };
  const route = { host: '198.41.0.4', use: 'failover', username: word, password: `${word}-smarthost-password` };
  const account = rowId('mailbox', mailboxId) ?? 0;
  const mail = `From: x@${word}.example\nMessage-ID: <1@${word}.example>\nSubject: ${word}\n${withFile(word)}`;
  await putMail(world.store, { account, receivedAt: world.clock() }, mail);
  await world.store.write(addContact, { account, key: `to@${word}.example` });
  await call('create_label', { mailbox: mailboxId, name: `${word}-label` });
  for (const n of [1, 2, 3]) {
    const draft = `From: <${address}>\nTo: to@${word}.example\nMessage-ID: <draft-${n}@${domain}>\nSubject: ${word} ${n}\n\n${word}\n`;
    await putMail(world.store, { account, folder: 'Drafts', bits: SEEN | DRAFT, receivedAt: world.clock() }, draft);
  }
  await call('add_sender_rule', { direction: 'out', kind: 'block', pattern: `${word}.rival.example` });
  const tokenArgs = { name: `${word} token`, actions: ['read'], projectId };
  const appPassword = { mailboxId, name: `${word} phone` };
  const deletedMailboxId = await get('provision_email', { domainId, localPart: 'gone' }, 'mailbox');
  await call('delete_email', { mailboxId: deletedMailboxId });
  const deletedServiceId = await get('create_service', { projectId, name: `${word} gone` }, 'service');
  await call('delete_service', { serviceId: deletedServiceId });
  return {
    ...whole,
    deletedMailboxId,
    deletedServiceId,
    projectId,
    domainId,
    domain,
    mailboxId,
    address,
    serviceId,
    apiKeyId: await get('create_email_api_key', { projectId, name: `${word} key`, allowedDomains: [domain] }, 'key'),
    importId: await get('start_import', { mailboxId }, 'import', 'importId'),
    aliasId: await get('create_alias', { mailboxIds: [mailboxId], localPart: `${word}-alias` }, 'alias'),
    ruleId: await get('add_sender_rule', { mailboxId, kind: 'block', pattern: `${word}.blocked.example` }, 'rule'),
    forwarderId: await get('set_email_forwarder', forward, 'forwarder'),
    ...forward,
    routeId: await get('set_outbound_route', { ...route, senderDomain: domain }, 'route', 'routeId'),
    webhookId: await get('create_webhook', { projectId, url: `https://hooks.example.net/${word}/sent` }, 'webhook'),
    ...(await queueRows(world, whole.organizationId, mailboxId, word)),
    ...(await tomorrow(world, call, address)),
    templateId: await get('create_email_template', { name: `${word} template`, subject: word, text: word }, 'template'),
    appPasswordId: await get('create_app_password', appPassword, 'appPassword'),
    tokenId: await get('create_agent_token', tokenArgs, 'token'),
  };
}

/** People make policies. */
async function policyOf(world: TestContext, organizationId: string, word: string): Promise<string> {
  const person = operatorCaller(rowId('organization', organizationId));
  const made = await done(world, 'save_agent_policy', { name: `${word} policy`, preset: 'support-desk' }, person);
  return String(made['policyId']);
}

/** A message with a link and a file, from where its Content-Type begins. */
export const withFile = (word: string): string =>
  `Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhttps://${word}.example/\n--b\nContent-Disposition: attachment; filename=${word}.txt\n\n${word}\n--b--\n`;

/** Two messages that wait for their time. */
async function tomorrow(
  world: TestContext,
  call: (name: string, args: object) => Promise<Result>,
  from: string,
): Promise<{ sentId: string; outboxId: string }> {
  const sendAt = new Date(world.clock() + 86_400_000).toISOString();
  const mail = {
    from,
    to: `to@${from.split('@')[1]?.replace('.test', '.example')}`,
    subject: from,
    text: from,
    sendAt,
  };
  const { id } = await call('send_email', mail);
  const { outboxId } = await call('send_email', { ...mail, allowDuplicate: true });
  return { sentId: String(id), outboxId: String(outboxId) };
}

async function queueRows(
  { store }: TestContext,
  organizationId: string,
  mailboxId: string,
  word: string,
): Promise<{ queueId: string; heldId: string }> {
  const sender = `anna@${word}.test`;
  const text = `From: <${sender}>\r\nTo: <to@${word}.example>\r\n\r\n${word}\r\n`;
  const queued = async (hold: string | null): Promise<string> => {
    const mail = outgoing(text, [`to@${word}.example`], {
      trace: `trace-${word}-${hold ?? 'due'}`,
      account: rowId('mailbox', mailboxId) ?? 0,
      tenant: rowId('organization', organizationId) ?? 0,
      sender,
      hold,
    });
    const done = await store.write(submit, unlimitedSubmission(mail));
    if (done.kind !== 'taken') throw new Error(done.kind);
    return `que_${done.rows[0]}`;
  };
  return { queueId: await queued(null), heldId: await queued('for a look') };
}

/** Somebody to whom the mailbox wrote. */
const addContact = command(
  'test-add-contact',
  async (tx, { account, key }: { account: number; key: string }, stamp): Promise<void> => {
    await recordCorrespondents(tx, account, [key], stamp.now);
  },
);

/** Somebody who is in an organization and is not its only owner; the page on which people join is not an operation. */
const addPerson = command(
  'test-add-person',
  async (tx, { organization, email }: { organization: number; email: string }, stamp): Promise<number> => {
    const user = await insertPendingUser(tx, { email, key: email, displayName: null }, stamp);
    await insertMember(tx, { organization, user, role: 'admin' }, stamp);
    return user;
  },
);
