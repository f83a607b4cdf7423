import type { ControlAnswer } from '../operator-socket/client.ts';

/** The world of the set-up: the running server, and the person at the terminal. */
export interface SetupTerminal {
  call: (operation: string, input: object) => Promise<ControlAnswer>;
  /** Asks for one line; undefined: nobody is there. */
  ask: (question: string) => Promise<string | undefined>;
  print: (text: string) => void;
}

/** Arguments of the command. */
export interface SetupArguments {
  domain?: string | undefined;
  mailbox?: string | undefined;
}

/** Result of a step: `open` waits for something that only a person can do elsewhere. */
export interface SetupOutcome {
  step: 'owner' | 'domain' | 'dns' | 'mailbox';
  state: 'done' | 'open';
  detail: string;
}

/** The server refused a step, or cannot be reached. */
export class SetupStopped extends Error {
  override readonly name = 'SetupStopped';
}

interface ListedDomain {
  id: string;
  domain: string;
  status: 'verified' | 'unverified';
}

interface DnsRow {
  type: string;
  name: string;
  value: string;
  priority?: number;
  required: boolean;
  status: string;
}

/**
 * Runs every step that is not done yet. All states are read from the server, so that the command goes on where the last
 * run, or the page, ended.
 */
export async function runSetup(terminal: SetupTerminal, given: SetupArguments): Promise<SetupOutcome[]> {
  const outcomes: SetupOutcome[] = [];
  const report = (outcome: SetupOutcome): void => {
    outcomes.push(outcome);
    terminal.print(`[${outcome.state === 'done' ? 'x' : ' '}] ${outcome.step.padEnd(8)} ${outcome.detail}`);
  };
  report(await ownerStep(terminal));
  const domain = await domainStep(terminal, given.domain);
  report(domain.outcome);
  if (domain.found === undefined) return outcomes;
  report(await dnsStep(terminal, domain.found));
  report(await mailboxStep(terminal, domain.found, given.mailbox));
  return outcomes;
}

async function ownerStep({ call }: SetupTerminal): Promise<SetupOutcome> {
  const { url } = await resultOf<{ url: string | null }>(call('create_claim_link', {}));
  if (url === null) return { step: 'owner', state: 'done', detail: 'This server has an owner.' };
  return { step: 'owner', state: 'open', detail: `Open this link and set a password: ${url}` };
}

async function domainStep(
  { call, ask }: SetupTerminal,
  given: string | undefined,
): Promise<{ outcome: SetupOutcome; found: ListedDomain | undefined }> {
  const { domains } = await resultOf<{ domains: ListedDomain[] }>(call('list_email_domains', { limit: 100 }));
  const known =
    given === undefined
      ? (domains.find(({ status }) => status === 'verified') ?? domains[0])
      : domains.find(({ domain }) => domain === given.toLowerCase());
  if (known !== undefined) return { outcome: { step: 'domain', state: 'done', detail: known.domain }, found: known };
  const name = given ?? (await ask('Domain, such as example.com: '));
  if (name === undefined || name === '') {
    const detail = 'Name one: mailstead setup --domain example.com';
    return { outcome: { step: 'domain', state: 'open', detail }, found: undefined };
  }
  const { domain } = await resultOf<{ domain: ListedDomain }>(call('add_email_domain', { domain: name }));
  return { outcome: { step: 'domain', state: 'done', detail: `${domain.domain} added.` }, found: domain };
}

async function dnsStep({ call, print }: SetupTerminal, { id, domain }: ListedDomain): Promise<SetupOutcome> {
  const { verified } = await resultOf<{ verified: boolean }>(call('verify_email_domain', { domainId: id }));
  if (verified) return { step: 'dns', state: 'done', detail: `The records of ${domain} are published.` };
  const { records } = await resultOf<{ records: DnsRow[] }>(call('list_dns_records', { domainId: id }));
  const missing = records.filter(({ required, status }) => required && status !== 'ok');
  for (const { type, name, value, priority } of missing)
    print(`      ${name}. ${type} ${priority === undefined ? '' : `${priority} `}${value}`);
  const detail = `Publish the ${missing.length} records above for ${domain}, then run this again.`;
  return { step: 'dns', state: 'open', detail };
}

async function mailboxStep(
  { call, ask, print }: SetupTerminal,
  { id, domain }: ListedDomain,
  given: string | undefined,
): Promise<SetupOutcome> {
  const { mailboxes } = await resultOf<{ mailboxes: { address: string }[] }>(call('list_emails', { limit: 100 }));
  const first = mailboxes.find(({ address }) => address.endsWith(`@${domain}`));
  const wanted = given?.replace(/@.*$/, '');
  const known = wanted === undefined ? first : mailboxes.find(({ address }) => address === `${wanted}@${domain}`);
  if (known !== undefined) return { step: 'mailbox', state: 'done', detail: known.address };
  const localPart = wanted ?? (await ask(`First mailbox, before @${domain}: `));
  if (localPart === undefined || localPart === '')
    return { step: 'mailbox', state: 'open', detail: 'Name one: mailstead setup --mailbox you' };
  await resultOf(call('provision_email', { domainId: id, localPart }));
  const address = `${localPart}@${domain}`;
  print(`      Set a password: mailstead mailbox password ${address}`);
  return { step: 'mailbox', state: 'done', detail: `${address} created.` };
}

async function resultOf<T>(answer: Promise<ControlAnswer>): Promise<T> {
  const got = await answer;
  if (got.kind === 'done') return got.result as T;
  throw new SetupStopped(got.message);
}
