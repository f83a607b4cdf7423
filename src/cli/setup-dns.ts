import { connectChosen, connectGiven, type SetupProvider } from './setup-provider.ts';
import {
  chooseLine,
  type ListedDomain,
  resultOf,
  type SetupArguments,
  type SetupOutcome,
  type SetupTerminal,
} from './setup-terminal.ts';

interface DnsRow {
  type: string;
  name: string;
  value: string;
  priority?: number;
  required: boolean;
  status: string;
  why?: string;
}

interface DnsChange {
  action: string;
  type: string;
  name: string;
  value: string | null;
  before: string | null;
  why: string | null;
}

const WAYS = [
  'at a DNS provider, with credentials of its API: later changes follow by themselves',
  'by this server, which becomes the name server of the domain',
  'by hand',
];

/** Publishes the records of a domain the way that a person chooses, and verifies the domain. */
export async function dnsStep(
  terminal: SetupTerminal,
  domain: ListedDomain,
  given: SetupArguments['provider'],
): Promise<SetupOutcome> {
  if (await isVerified(terminal, domain)) return done(`The records of ${domain.domain} are published.`);
  const which = { domainId: domain.id };
  const { connected, providers } = await resultOf<{ connected: object | null; providers: SetupProvider[] }>(
    terminal.call('get_dns_provider', which),
  );
  if (given !== undefined) {
    await connectGiven(terminal, domain, given);
    return publish(terminal, domain);
  }
  if (connected !== null) return publish(terminal, domain);
  const way = await chooseLine(terminal, `How shall the DNS records of ${domain.domain} be published?`, WAYS);
  if (way === 0 && (await connectChosen(terminal, domain, providers))) return publish(terminal, domain);
  return way === 1 ? delegate(terminal, domain) : showRecords(terminal, domain);
}

const done = (detail: string): SetupOutcome => ({ step: 'dns', state: 'done', detail });
const open = (detail: string): SetupOutcome => ({ step: 'dns', state: 'open', detail });

async function isVerified({ call }: SetupTerminal, { id }: ListedDomain): Promise<boolean> {
  return (await resultOf<{ verified: boolean }>(call('verify_email_domain', { domainId: id }))).verified;
}

/** Shows changes of what others wrote before it makes them; new records alone need no question. */
async function publish(terminal: SetupTerminal, domain: ListedDomain): Promise<SetupOutcome> {
  const { call, print, ask } = terminal;
  const which = { domainId: domain.id };
  const { changes } = await resultOf<{ changes: DnsChange[] }>(call('preview_dns_changes', which));
  const foreign = changes.filter(({ action }) => !['create', 'keep', 'suggest'].includes(action));
  for (const one of foreign) print(changeLine(one));
  if (foreign.length > 0) {
    const answer = await ask('Make these changes, and add the new records? Conflicts stay as they are. [y/N] ');
    if (answer?.toLowerCase() !== 'y')
      return open(
        `Nothing was published. Look at the changes: mailstead call preview_dns_changes domain=${domain.domain}`,
      );
  }
  await resultOf(call('publish_dns_records', which));
  if (await becomesVerified(terminal, domain)) return done(`The records of ${domain.domain} are published.`);
  const detail = `The records of ${domain.domain} are published at the provider, and not visible to all yet`;
  return open(`${detail}: run this again in some minutes.`);
}

function changeLine({ action, type, name, value, before, why }: DnsChange): string {
  const from = before !== null && before !== value ? `, now ${before}` : '';
  return `      ${action} ${type} ${name}: ${value ?? 'removed'}${from}${why === null ? '' : ` (${why})`}`;
}

/** Looks again, as name servers take a moment. */
const TRIES = 6;
const PAUSE_MS = 5000;

async function becomesVerified(terminal: SetupTerminal, domain: ListedDomain): Promise<boolean> {
  terminal.print('      Waiting until the records are visible...');
  for (let tries = 0; tries < TRIES; tries++) {
    if (tries > 0) await terminal.wait(PAUSE_MS);
    if (await isVerified(terminal, domain)) return true;
  }
  return false;
}

/** The name servers to set at the registrar; done where they are set already. */
async function delegate(terminal: SetupTerminal, domain: ListedDomain): Promise<SetupOutcome> {
  const answer = await terminal.call('apply_managed_dns', { domainId: domain.id });
  if (answer.kind !== 'done') return open(answer.message);
  const { managed, ds, next } = answer.result as { managed: boolean; ds: string | null; next: string };
  if (managed && (await isVerified(terminal, domain))) {
    terminal.print(`      For DNSSEC, publish at the registrar: ${domain.domain}. DS ${ds}`);
    return done(`This server is the name server of ${domain.domain}.`);
  }
  return open(next.replace('call this again', 'run this again'));
}

async function showRecords({ call, print }: SetupTerminal, { id, domain }: ListedDomain): Promise<SetupOutcome> {
  const { records } = await resultOf<{ records: DnsRow[] }>(call('list_dns_records', { domainId: id }));
  const missing = records.filter(({ required, status }) => required && status !== 'ok');
  for (const { type, name, value, priority, why } of missing) {
    print(`      ${name}. ${type} ${priority === undefined ? '' : `${priority} `}${value}`);
    if (why !== undefined) print(`        now: ${why}`);
  }
  return open(`Publish the ${missing.length} records above for ${domain}, then run this again.`);
}
