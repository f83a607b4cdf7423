import type { getEmailDomain, listEmailDomains } from '../../../operations/domains/list.ts';
import type { listAppPasswordsOf } from '../../../operations/mailboxes/app-passwords.ts';
import type { listEmails } from '../../../operations/mailboxes/list.ts';
import { type ProviderFacts, readDnsProvider } from '../domain-dns.ts';
import { type OutputOf, readOperation, type Visit } from '../../visit.ts';

export type SetupDomain = OutputOf<typeof getEmailDomain>;
export type SetupMailbox = OutputOf<typeof listEmails>['mailboxes'][number];

/** State of the set-up. Read from the store at each visit, so that a restart or a command changes nothing. */
export interface SetupState {
  domain: SetupDomain | undefined;
  mailbox: SetupMailbox | undefined;
  /** DNS provider of the domain while its records are open; undefined where the visitor may not see it. */
  provider: ProviderFacts | undefined;
  /** True if a device has an app password of the mailbox. */
  device: boolean;
}

/** Names of the steps, in their order. */
export const SETUP_STEPS = ['owner', 'domain', 'dns', 'mailbox', 'phone'] as const;
export type SetupStep = (typeof SETUP_STEPS)[number];

/** Reads what is there. A verified domain comes first, as do its mailboxes. */
export async function readSetup(visit: Visit): Promise<SetupState> {
  const listed = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', { limit: 100 });
  const all = listed?.domains ?? [];
  const chosen = all.find(({ status }) => status === 'verified') ?? all[0];
  if (chosen === undefined) return { domain: undefined, mailbox: undefined, provider: undefined, device: false };
  const domain = await readOperation<typeof getEmailDomain>(visit, 'get_email_domain', { domainId: chosen.id });
  const boxes = await readOperation<typeof listEmails>(visit, 'list_emails', { limit: 100 });
  const mailbox = boxes?.mailboxes.find(({ address }) => address.endsWith(`@${chosen.domain}`));
  const provider = chosen.status === 'verified' ? undefined : await readDnsProvider(visit, chosen.id);
  return { domain, mailbox, provider, device: mailbox !== undefined && (await hasDevice(visit, mailbox.id)) };
}

async function hasDevice(visit: Visit, mailboxId: string): Promise<boolean> {
  const listed = await readOperation<typeof listAppPasswordsOf>(visit, 'list_app_passwords', { mailboxId });
  return listed !== undefined && listed.appPasswords.length > 0;
}

/** Steps that are done. The owner claimed this organization, or could not see the page. */
export function doneSteps({ domain, mailbox, device }: SetupState): SetupStep[] {
  const done: Record<SetupStep, boolean> = {
    owner: true,
    domain: domain !== undefined,
    dns: domain?.domain.status === 'verified',
    mailbox: mailbox !== undefined,
    phone: device,
  };
  return SETUP_STEPS.filter((step) => done[step]);
}
