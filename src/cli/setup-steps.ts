import { dnsStep } from './setup-dns.ts';
import { phoneStep } from './setup-phone.ts';
import {
  type ListedDomain,
  resultOf,
  type SetupArguments,
  type SetupOutcome,
  type SetupTerminal,
} from './setup-terminal.ts';

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
  report(await dnsStep(terminal, domain.found, given.provider));
  const mailbox = await mailboxStep(terminal, domain.found, given.mailbox);
  report(mailbox.outcome);
  if (mailbox.address !== undefined) report(await phoneStep(terminal, mailbox.address, given.device));
  remind(terminal, outcomes);
  return outcomes;
}

/** Repeats the open steps that scrolled away. */
function remind({ print }: SetupTerminal, outcomes: readonly SetupOutcome[]): void {
  const open = outcomes.slice(0, -1).filter(({ state }) => state === 'open');
  if (open.length > 0)
    print(['Still open:', ...open.map(({ step, detail }) => `    ${step.padEnd(8)} ${detail}`)].join('\n'));
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

async function mailboxStep(
  { call, ask, print }: SetupTerminal,
  { id, domain }: ListedDomain,
  given: string | undefined,
): Promise<{ outcome: SetupOutcome; address?: string }> {
  const { mailboxes } = await resultOf<{ mailboxes: { address: string }[] }>(call('list_emails', { limit: 100 }));
  const first = mailboxes.find(({ address }) => address.endsWith(`@${domain}`));
  const wanted = given?.replace(/@.*$/, '');
  const known = wanted === undefined ? first : mailboxes.find(({ address }) => address === `${wanted}@${domain}`);
  if (known !== undefined)
    return { outcome: { step: 'mailbox', state: 'done', detail: known.address }, address: known.address };
  const localPart = wanted ?? (await ask(`First mailbox, before @${domain}: `));
  if (localPart === undefined || localPart === '')
    return { outcome: { step: 'mailbox', state: 'open', detail: 'Name one: mailstead setup --mailbox you' } };
  await resultOf(call('provision_email', { domainId: id, localPart }));
  const address = `${localPart}@${domain}`;
  print(`      Set a password: mailstead mailbox password ${address}`);
  return { outcome: { step: 'mailbox', state: 'done', detail: `${address} created.` }, address };
}
