import { addressKey, parseAddress, parseDomain } from '../../mail/message/address.ts';
import { type AccountInfo, accountByKey, accountInfo } from '../../mail/store/account/account.ts';
import { type DomainInfo, domainInfo as findDomain, domainsOf } from '../../mail/store/address/domain.ts';
import { publicThreadId } from '../core/message-ids.ts';
import { rowId, publicId } from '../core/ids.ts';
import { listProjects, type Project } from '../organizations/commands.ts';
import { accountsInProject, mailboxSetup } from '../accounts/mailbox-setup.ts';
import { domainSetup } from '../domains/setup.ts';
import { findWebhook, type Webhook, webhookOfOrganization } from '../webhooks/webhook-queries.ts';
import { type DeletedMailboxLine, findDeletedMailbox } from '../mailboxes/deletion-queries.ts';
import { type DeletedServiceLine, deletedServicesOf } from '../services/deletion-commands.ts';
import { findService, type Service } from '../services/queries.ts';
import type { Caller } from '../core/caller.ts';
import type { Call } from '../core/operation.ts';
import { notFound, refuse } from '../core/refusal.ts';

/** Returns the named project, or the first that the token may see. */
export async function projectOf(call: Call, projectId: string | undefined): Promise<Project> {
  const projects = await call.store.read(listProjects, { organization: call.tenant });
  const allowed = await allowedProjects(call);
  const id = projectId === undefined ? (allowed ?? projects.map((one) => one.id))[0] : rowId('project', projectId);
  const project = projects.find((one) => one.id === id);
  if (project === undefined) return notFound('project');
  if (allowed?.includes(project.id) === false) outOfScope(call.caller);
  return project;
}

/** Returns the projects that a limited token may see: its own, or those of its service or mailboxes; null: all. */
export async function allowedProjects({ store, tenant, caller }: Call): Promise<number[] | null> {
  const { project, service, mailboxes } = caller;
  if (project !== null) return [project];
  if (service !== null) {
    const found = await store.read(findService, { organization: tenant, id: service });
    return found === undefined ? [] : [found.project];
  }
  if (mailboxes === null) return null;
  const setups = await Promise.all(mailboxes.map((account) => store.read(mailboxSetup, { account })));
  return [...new Set(setups.flatMap((setup) => (setup === undefined ? [] : [setup.project])))].toSorted(
    (a, b) => a - b,
  );
}

/** Refuses what is outside the token's project. */
export function withinProject({ caller }: Call, project: number | null): void {
  if (caller.project === null || caller.project === project) return;
  outOfScope(caller);
}

export interface Mailbox extends AccountInfo {
  project: number;
  displayName: string | null;
}

/** Finds a mailbox by id or address, within the organization and the token's limits. */
export async function mailboxOf(
  call: Call,
  given: { mailboxId?: string | undefined; address?: string | undefined },
): Promise<Mailbox> {
  const account = await namedAccount(call, given);
  if (account === undefined) return notFound('mailbox');
  const setup = await call.store.read(mailboxSetup, { account: account.id });
  const mailbox = { ...account, project: setup?.project ?? 0, displayName: setup?.displayName ?? null };
  withinMailbox(call, mailbox);
  return mailbox;
}

async function namedAccount(
  { store, tenant, caller }: Call,
  { mailboxId, address }: { mailboxId?: string | undefined; address?: string | undefined },
): Promise<AccountInfo | undefined> {
  if (mailboxId !== undefined) {
    const id = rowId('mailbox', mailboxId);
    return id === undefined ? undefined : store.read(accountInfo, { tenant, id });
  }
  if (address !== undefined) {
    const parsed = parseAddress(address);
    if (parsed !== undefined) return store.read(accountByKey, { tenant, key: addressKey(parsed) });
    return refuse('invalid_arguments', 'address must be a mail address such as ann@example.com.', {
      issues: [{ path: 'address', message: 'is not a mail address' }],
    });
  }
  const [only, ...more] = caller.mailboxes ?? [];
  if (only !== undefined && more.length === 0) return store.read(accountInfo, { tenant, id: only });
  return refuse('invalid_arguments', 'Give mailboxId or address.', {
    issues: [{ path: 'mailboxId', message: 'missing' }],
  });
}

/** Finds a deleted mailbox by id or address, within the organization and the token's limits: the one deleted last. */
export async function deletedMailboxOf(
  call: Call,
  { mailboxId, address }: { mailboxId?: string | undefined; address?: string | undefined },
): Promise<DeletedMailboxLine> {
  const id = mailboxId === undefined ? null : (rowId('mailbox', mailboxId) ?? 0);
  const parsed = address === undefined ? undefined : parseAddress(address);
  if (id === null && parsed === undefined) {
    refuse('invalid_arguments', 'Give mailboxId or address.', { issues: [{ path: 'mailboxId', message: 'missing' }] });
  }
  const key = parsed === undefined ? null : addressKey(parsed);
  const found = await call.store.read(findDeletedMailbox, { tenant: call.tenant, id, key });
  if (found === undefined) return notFound('deleted mailbox');
  withinMailbox(call, found);
  return found;
}

/** Finds a deleted service, within the organization and the token's limits. */
export async function deletedServiceOf(call: Call, serviceId: string): Promise<DeletedServiceLine> {
  const id = rowId('service', serviceId) ?? 0;
  const [found] = await call.store.read(deletedServicesOf, { organization: call.tenant, id });
  if (found === undefined) return notFound('deleted service');
  withinProject(call, found.project);
  return found;
}

export function withinMailbox(call: Call, mailbox: { id: number; project: number }): void {
  withinProject(call, mailbox.project);
  const { service, mailboxes } = call.caller;
  if (service !== null || mailboxes?.includes(mailbox.id) === false) outOfScope(call.caller);
}

/** Refuses what is outside the token's conversation, as if it did not exist. */
export function withinThread({ caller }: Call, thread: number | undefined, resource = 'message'): void {
  const limit = caller.token?.narrow?.thread ?? null;
  if (limit !== null && limit !== thread) notFound(resource);
}

/** Finds a domain by id or name, within the organization and the token's limits. */
export async function findOwnDomain(
  call: Call,
  given: { domainId?: string | undefined; domain?: string | undefined },
): Promise<DomainInfo & { project: number }> {
  const domain = await namedDomain(call, given);
  if (domain === undefined) return notFound('domain');
  const setup = await call.store.read(domainSetup, { domain: domain.id });
  const project = setup?.project ?? 0;
  withinProject(call, project);
  return { ...domain, project };
}

async function namedDomain(
  { store, tenant }: Call,
  { domainId, domain }: { domainId?: string | undefined; domain?: string | undefined },
): Promise<DomainInfo | undefined> {
  if (domainId !== undefined) {
    const id = rowId('domain', domainId);
    return id === undefined ? undefined : store.read(findDomain, { tenant, id });
  }
  const name = domain === undefined ? undefined : parseDomain(domain);
  if (name === undefined) {
    return refuse('invalid_arguments', 'Give domainId or domain, a domain name.', {
      issues: [{ path: 'domainId', message: 'missing' }],
    });
  }
  return (await store.read(domainsOf, { tenant })).find((one) => one.name === name);
}

/** Refuses, and states the token's limits. */
export function outOfScope({ project, service, mailboxes, token }: Caller): never {
  const thread = token?.narrow?.thread ?? null;
  const limited = thread === null ? 'another project, service or mailbox' : 'one conversation';
  return refuse('out_of_scope', `This token is limited to ${limited}.`, {
    ...(thread !== null && { allowedThreadId: publicThreadId(thread) }),
    ...(project !== null && { allowedProjectId: publicId('project', project) }),
    ...(service !== null && { allowedServiceId: publicId('service', service) }),
    ...(mailboxes !== null && { allowedMailboxIds: mailboxes.map((id) => publicId('mailbox', id)) }),
  });
}

/** Returns the accounts that a limited token may see; null: all of its organization. */
export async function allowedAccounts(call: Pick<Call, 'store' | 'tenant' | 'caller'>): Promise<number[] | null> {
  const { project, service, mailboxes } = call.caller;
  if (service !== null) return [];
  if (project === null) return mailboxes === null ? null : [...mailboxes];
  const inProject = await call.store.read(accountsInProject, { tenant: call.tenant, project });
  return mailboxes === null ? inProject : inProject.filter((id) => mailboxes.includes(id));
}

/** Finds a webhook of the organization by id, or the webhook of the named mailbox. */
export async function webhookOf(
  call: Call,
  {
    webhookId,
    ...which
  }: { webhookId?: string | undefined; mailboxId?: string | undefined; address?: string | undefined },
): Promise<Webhook> {
  if (webhookId === undefined) {
    const mailbox = await mailboxOf(call, which);
    const hook = await call.store.read(findWebhook, { account: mailbox.id });
    if (hook !== undefined) return hook;
    return refuse('conflict', 'This mailbox has no webhook: set one with set_email_inbound_webhook.', {
      resource: 'webhook',
    });
  }
  const id = rowId('webhook', webhookId);
  const find = { organization: call.tenant, id: id ?? 0 };
  const hook = await call.store.read(webhookOfOrganization, find);
  if (hook === undefined) return notFound('webhook');
  withinProject(call, hook.project);
  const { service, mailboxes } = call.caller;
  if (service !== null || mailboxes !== null) outOfScope(call.caller);
  return hook;
}

/** Finds a service, within the organization and the token's limits. */
export async function serviceOf(call: Call, serviceId: string): Promise<Service> {
  const id = rowId('service', serviceId);
  const service = id === undefined ? undefined : await call.store.read(findService, { organization: call.tenant, id });
  if (service === undefined) return notFound('service');
  withinProject(call, service.project);
  const { service: own, mailboxes } = call.caller;
  if (own === null ? mailboxes !== null : own !== service.id) outOfScope(call.caller);
  return service;
}
