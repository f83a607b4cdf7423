import { generateKeyPairSync } from 'node:crypto';
import type { z } from 'zod';
import { CATALOGUE } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/core/operation.ts';
import { spki, type Things, UNLISTED } from './tenants.ts';

type Args = Record<string, unknown>;

/** Everything that a token could try: the catalogue, and what has a route or an address only. */
export const EVERYTHING: readonly Operation[] = [...CATALOGUE, ...UNLISTED];

let last = 0;
const fresh = (): string => `n${++last}`;

const none = (): Args => ({});
const domain = ({ domainId }: Things): Args => ({ domainId });
const mailbox = ({ mailboxId }: Things): Args => ({ mailboxId });
const inMailbox = ({ mailboxId }: Things): Args => ({ mailbox: mailboxId });
const service = ({ serviceId }: Things): Args => ({ serviceId });
/** The first message of its mailbox. */
const messageOf = ({ mailboxId }: Things): string => `msg_${(Number(mailboxId.slice(4)) % 1_000_000) * 2 ** 32 + 1}`;
/** The message that waits. */
const traceOf = ({ domain: name }: Things): string => `trace-${name.replace(/\.test$/, '')}-due`;
const ofOrganization = ({ organizationId }: Things): Args => ({ organizationId });
const inProject = ({ projectId }: Things): Args => ({ projectId });
const waiting = ({ queueId }: Things): Args => ({ queueId });

/**
 * Arguments for each operation that fit the things that are named: whoever may do it to them succeeds. A test compares
 * the names with the catalogue, so that no operation is forgotten.
 */
export const SAMPLES: Readonly<Record<string, (of: Things) => Args>> = {
  create_account_and_claim_link: () => ({ ownerEmail: `${fresh()}@owner.test`, organizationName: fresh() }),
  create_own_organization: () => ({ organizationName: fresh() }),
  bootstrap: none,
  whoami: none,
  register_recovery_key: () => ({ label: 'third', publicKey: spki(generateKeyPairSync('ed25519').publicKey) }),
  verify_recovery_key: ({ pendingKeyId: keyId, pendingSignature: signature }) => ({ keyId, signature }),
  get_deploy_gate_status: ofOrganization,
  get_sign_in_policy: ofOrganization,
  set_sign_in_policy: (of) => ({ ...ofOrganization(of), secondFactor: 'none' }),
  search_tools: () => ({ query: 'mailbox' }),
  set_payment_method: ofOrganization,
  list_recovery_keys: none,
  revoke_recovery_key: ({ activeKeyId: keyId }) => ({ keyId }),
  add_email_domain: ({ projectId }) => ({ projectId, domain: `${fresh()}.test` }),
  verify_email_domain: domain,
  list_email_domains: inProject,
  get_email_domain: domain,
  remove_email_domain: domain,
  list_dns_records: domain,
  check_dns_record: (of) => ({ domainId: of.domainId, name: of.domain, type: 'MX' }),
  export_zone: domain,
  apply_managed_dns: domain,
  rotate_dkim_keys: domain,
  set_mta_sts: (of) => ({ ...domain(of), mode: 'testing' }),
  get_deliverability_report: domain,
  get_deliverability: domain,
  get_dmarc_report: domain,
  get_tls_report: domain,
  set_dmarc_policy: (of) => ({ ...domain(of), policy: 'none' }),
  run_delivery_test: ({ domainId, address }) => ({ domainId, to: address, timeoutSeconds: 0 }),
  provision_email: ({ domainId }) => ({ domainId, localPart: fresh() }),
  list_emails: inProject,
  update_email: ({ mailboxId }) => ({ mailboxId, displayName: fresh() }),
  reveal_email_credentials: ({ mailboxId }) => ({ mailboxId, reason: 'a look' }),
  rotate_email_credentials: ({ mailboxId }) => ({ mailboxId, password: 'correct-horse-battery-staple' }),
  delete_email: ({ mailboxId, address }) => ({ mailboxId, confirm: address }),
  list_deleted_emails: inProject,
  restore_email: ({ deletedMailboxId: mailboxId }) => ({ mailboxId }),
  create_app_password: ({ mailboxId }) => ({ mailboxId, name: fresh(), expiresAt: '2030-01-01T00:00:00Z' }),
  list_app_passwords: mailbox,
  revoke_app_password: ({ mailboxId, appPasswordId }) => ({ mailboxId, appPasswordId }),
  create_alias: ({ mailboxId, domainId }) => ({
    mailboxIds: [mailboxId],
    domainId,
    localPart: fresh(),
    expiresAt: '2030-01-01T00:00:00Z',
    note: fresh(),
  }),
  start_import: mailbox,
  get_import: ({ importId }) => ({ importId }),
  list_aliases: mailbox,
  update_alias: ({ aliasId, mailboxId }) => ({ aliasId, mailboxIds: [mailboxId], note: fresh() }),
  remove_alias: ({ aliasId }) => ({ aliasId }),
  list_messages: inMailbox,
  search_messages: (of) => ({ ...inMailbox(of), query: 'subject:main' }),
  get_message: (of) => ({ ...inMailbox(of), messageId: messageOf(of) }),
  get_thread: (of) => ({ ...inMailbox(of), threadId: 't1' }),
  get_attachment: (of) => ({ ...inMailbox(of), attachmentId: 'm1-2' }),
  get_message_source: (of) => ({ ...inMailbox(of), messageId: messageOf(of) }),
  watch_resources: ({ mailboxId }) => ({ uris: [`mail://mailbox/${mailboxId}`, 'mail://outbox'] }),
  follow_events: inMailbox,
  resolve_link: (of) => ({ ...inMailbox(of), messageId: messageOf(of), handle: 'link:1' }),
  update_message: (of) => ({ ...inMailbox(of), messageIds: [messageOf(of)], addLabels: [fresh()] }),
  trash_message: (of) => ({ ...inMailbox(of), messageIds: [messageOf(of)] }),
  restore_message: (of) => ({ ...inMailbox(of), messageIds: [messageOf(of)] }),
  list_contacts: inMailbox,
  get_contact: (of) => ({ ...inMailbox(of), contact: `to@${of.domain.replace('.test', '.example')}` }),
  list_quarantine: inMailbox,
  request_release: (of) => ({ ...inMailbox(of), messageId: messageOf(of), reason: fresh() }),
  release_message: (of) => ({ ...inMailbox(of), messageId: messageOf(of) }),
  list_labels: inMailbox,
  create_label: (of) => ({ ...inMailbox(of), name: fresh() }),
  delete_label: (of) => ({ ...inMailbox(of), name: `${of.domain.replace('.test', '')}-label` }),
  create_narrow_token: (of) => ({ ...inMailbox(of), name: fresh(), sends: 1 }),
  undo_changes: () => ({ since: '2030-01-01T00:00:00Z' }),
  claim_message: (of) => ({ ...inMailbox(of), messageId: messageOf(of) }),
  wait_for_email: (of) => ({ ...inMailbox(of), timeoutSeconds: 0 }),
  wait_for_code: (of) => ({ ...inMailbox(of), expectFrom: 'shop.example', timeoutSeconds: 0 }),
  add_sender_rule: ({ mailboxId }) => ({ mailboxId, kind: 'block', pattern: `${fresh()}.example`, note: fresh() }),
  list_sender_rules: mailbox,
  remove_sender_rule: ({ ruleId }) => ({ ruleId }),
  create_email_api_key: ({ projectId, domain: name }) => ({ projectId, name: fresh(), allowedDomains: [name] }),
  list_email_api_keys: inProject,
  revoke_email_api_key: ({ apiKeyId: keyId }) => ({ keyId }),
  set_email_inbound_webhook: ({ mailboxId }) => ({ mailboxId, url: 'https://hooks.example.net/in' }),
  get_email_inbound_webhook: mailbox,
  remove_email_inbound_webhook: mailbox,
  test_inbound_webhook: ({ mailboxId }) => ({ mailboxId, waitSeconds: 0 }),
  list_webhook_deliveries: mailbox,
  list_dead_webhook_deliveries: mailbox,
  replay_webhook_deliveries: ({ mailboxId }) => ({ mailboxId, since: '2020-01-01T00:00:00Z' }),
  enable_webhook: mailbox,
  create_webhook: ({ projectId }) => ({ projectId, url: 'https://hooks.example.net/out' }),
  list_webhooks: none,
  update_webhook: ({ webhookId }) => ({ webhookId, rotateSecret: true }),
  remove_webhook: ({ webhookId }) => ({ webhookId }),
  test_webhook: ({ webhookId }) => ({ webhookId, waitSeconds: 0 }),
  replay_webhook_delivery: (of) => ({ mailboxId: of.mailboxId, messageId: messageOf(of) }),
  list_suppressions: none,
  add_suppression: () => ({ address: `${fresh()}@gone.example` }),
  remove_suppression: () => ({ address: 'gone@gone.example' }),
  set_email_forwarder: ({ sourceAddress }) => ({ sourceAddress, destinationAddress: `${fresh()}@else.example` }),
  get_mail_policy: () => ({}),
  update_mail_policy: () => ({ keepRejects: true }),
  set_forwarding_policy: () => ({ confirmExternal: false }),
  list_email_forwarders: ({ sourceAddress }) => ({ sourceAddress }),
  remove_email_forwarder: ({ forwarderId }) => ({ forwarderId }),
  send_email: ({ address }) => ({ from: address, to: `${fresh()}@else.example`, subject: fresh(), text: fresh() }),
  send_test_email: ({ address }) => ({ from: address, to: `${fresh()}@else.example` }),
  reply_to_email: (of) => ({ ...inMailbox(of), messageId: messageOf(of), text: fresh() }),
  forward_email: (of) => ({ ...inMailbox(of), messageId: messageOf(of), to: `${fresh()}@else.example`, note: fresh() }),
  create_draft: (of) => ({ ...inMailbox(of), to: `${fresh()}@else.example`, subject: fresh(), text: fresh() }),
  update_draft: (of) => ({ ...inMailbox(of), draftId: 'm2', revision: 'm2', text: fresh() }),
  get_draft: (of) => ({ ...inMailbox(of), draftId: of.draftId ?? 'm2' }),
  list_drafts: inMailbox,
  delete_draft: (of) => ({ ...inMailbox(of), draftId: 'm3' }),
  send_draft: (of) => ({ ...inMailbox(of), draftId: 'm4', revision: 'm4' }),
  upload_attachment_url: () => ({
    filename: `${fresh()}.txt`,
    contentType: 'text/plain',
    sizeBytes: 1,
    sha256: 'a'.repeat(64),
  }),
  cancel_scheduled_email: ({ sentId: messageId }) => ({ messageId }),
  list_outbox: none,
  get_outbox_item: ({ outboxId }) => ({ outboxId }),
  list_paused_senders: none,
  resume_sender: () => ({ sender: 'mbx_999999' }),
  withdraw_outbox_item: ({ outboxId }) => ({ outboxId }),
  create_email_template: () => ({ name: fresh(), subject: 'Hello {{name}}', text: 'Hello {{name}}' }),
  update_email_template: ({ templateId }) => ({ templateId, subject: fresh(), text: fresh() }),
  list_email_templates: none,
  get_email_template: ({ templateId }) => ({ templateId }),
  delete_email_template: ({ templateId }) => ({ templateId }),
  get_agent_policy: mailbox,
  propose_agent_policy: ({ mailboxId }) => ({ mailboxId, name: fresh(), preset: 'support-desk', allow: ['a.example'] }),
  list_proposals: none,
  explain_decision: ({ sentId: messageId }) => ({ messageId }),
  list_queue: () => ({ state: 'waiting' }),
  get_queue_item: waiting,
  retry_queue_item: waiting,
  hold_queue_item: waiting,
  release_queue_item: ({ heldId: queueId }) => ({ queueId }),
  cancel_queue_item: waiting,
  trace_message: ({ address }) => ({ address }),
  set_queue_route: ({ queueId }) => ({ queueId, route: 'direct' }),
  steer_queue: () => ({ action: 'retry', domain: 'remote.example' }),
  set_outbound_route: ({ domain: senderDomain }) => ({
    senderDomain,
    host: '198.41.0.4',
    username: 'u',
    password: 'p',
  }),
  list_outbound_routes: none,
  remove_outbound_route: ({ routeId }) => ({ routeId }),
  attach_email_to_service: ({ mailboxId, serviceId }) => ({ mailboxId, serviceId }),
  detach_email_from_service: ({ mailboxId, serviceId }) => ({ mailboxId, serviceId }),
  list_services: inProject,
  create_service: ({ projectId }) => ({ projectId, name: fresh() }),
  deploy_service: ({ serviceId }) => ({ serviceId, env: { MODE: fresh() }, spec: { image: fresh() } }),
  restart_service: service,
  read_logs: ({ serviceId }) => ({ serviceId, since: '2020-01-01T00:00:00Z' }),
  list_deployments: service,
  rollback_service: ({ serviceId }) => ({ serviceId, revision: 1 }),
  delete_service: service,
  list_deleted_services: inProject,
  restore_service: ({ deletedServiceId: serviceId }) => ({ serviceId }),
  get_service_environment: service,
  get_organization: ofOrganization,
  update_organization: () => ({ name: fresh() }),
  list_projects: none,
  create_project: () => ({ name: fresh() }),
  list_members: none,
  invite_member: () => ({ email: `${fresh()}@guest.test`, role: 'member' }),
  update_member: ({ userId, mailboxId }) => ({ userId, role: 'admin', mailboxIds: [mailboxId] }),
  remove_member: ({ userId }) => ({ userId }),
  resend_claim_link: none,
  list_agent_tokens: none,
  create_agent_token: ({ mailboxId }) => ({ name: fresh(), actions: ['read'], mailboxIds: [mailboxId] }),
  revoke_agent_token: ({ tokenId }) => ({ tokenId }),
  list_audit_events: () => ({ verify: true }),
  get_usage: none,
  get_email_stats: (of) => ({ ...inMailbox(of), from: '2026-01-01T00:00:00Z', bucket: 'day' }),
  get_appliance_status: none,
  run_doctor: none,
  get_server_history: none,
  get_health: none,
  get_backups: none,
  run_backup: () => ({ verify: true }),
  get_tls_status: none,
  list_tls_results: () => ({ domain: 'remote.example', day: '2026-01-01' }),
  search_docs: () => ({ query: 'mailbox' }),
  list_bans: none,
  remove_ban: () => ({ address: '192.0.2.7' }),
  list_organizations: none,
  freeze_organization: ({ organizationId }) => ({ targetOrganizationId: organizationId }),
  remove_organization: ({ organizationId, slug }) => ({ targetOrganizationId: organizationId, confirm: slug }),
  restore_organization: ({ organizationId }) => ({ targetOrganizationId: organizationId }),
  unfreeze_organization: ({ organizationId }) => ({ targetOrganizationId: organizationId }),
};

export function sampleOf({ name }: Operation, of: Things): Args {
  const make = SAMPLES[name];
  if (make === undefined) throw new Error(`${name} has no sample: add one to SAMPLES`);
  return make(of);
}

/** Arguments by which something is named; every operation takes organizationId. */
const REFERENCES: Readonly<Record<string, (of: Things, operation: string) => unknown>> = {
  organizationId: (of) => of.organizationId,
  targetOrganizationId: (of) => of.organizationId,
  projectId: (of) => of.projectId,
  domainId: (of) => of.domainId,
  domain: (of) => of.domain,
  allowedDomains: (of) => [of.domain],
  mailboxId: (of) => of.mailboxId,
  mailboxIds: (of) => [of.mailboxId],
  mailbox: (of) => of.mailboxId,
  address: (of) => of.address,
  serviceId: (of) => of.serviceId,
  attachServiceId: (of) => of.serviceId,
  keyId: (of, operation) => (operation === 'revoke_email_api_key' ? of.apiKeyId : of.pendingKeyId),
  userId: (of) => of.userId,
  tokenId: (of) => of.tokenId,
  passwordId: (of) => of.appPasswordId,
  forwarderId: (of) => of.forwarderId,
  aliasId: (of) => of.aliasId,
  importId: (of) => of.importId,
  ruleId: (of) => of.ruleId,
  policyId: (of) => of.policyId,
  agentPolicyId: (of) => of.policyId,
  withAddress: (of) => of.address,
  sourceAddress: (of) => of.sourceAddress,
  destinationAddress: (of) => of.destinationAddress,
  queueId: (of) => of.queueId,
  inReplyTo: (of, operation) => (operation === 'create_draft' ? messageOf(of) : of.sentId),
  outboxId: (of) => of.outboxId,
  templateId: (of) => of.templateId,
  messageId: (of, operation) => {
    if (operation === 'trace_message') return traceOf(of);
    return ['cancel_scheduled_email', 'explain_decision'].includes(operation) ? of.sentId : messageOf(of);
  },
  contact: (of) => `to@${of.domain.replace('.test', '.example')}`,
  messageIds: (of) => [messageOf(of)],
  webhookId: (of) => of.webhookId,
  // Nothing was delivered to the webhooks of the fixture.
  deliveryId: (of) => `whd_${of.webhookId.slice(4)}`,
  appPasswordId: (of) => of.appPasswordId,
  routeId: (of) => of.routeId,
  route: (of) => of.routeId,
  senderDomain: (of) => of.domain,
};

/** Arguments that name nothing of an organization, as far as the operation that is named here goes. */
const PLAIN: Readonly<Record<string, readonly string[] | 'everywhere'>> = {
  // A new name: another organization's claim of it neither blocks nor captures.
  domain: ['add_email_domain', 'steer_queue', 'list_tls_results'],
  // One that is not in sight steers nothing.
  messageId: ['steer_queue'],
  // Anybody's.
  address: ['add_suppression', 'list_suppressions', 'remove_suppression'],
  // Mail may be forwarded to anybody.
  destinationAddress: ['set_email_forwarder'],
};

/** One reference argument of an operation: its value, and the arguments of a call with it. */
export interface Reference {
  operation: Operation;
  field: string;
  readonly value: (of: Things) => unknown;
  /** The sample with this argument instead of others that name the same thing. */
  readonly args: (own: Things, value: unknown) => Args;
}

/** Other names for the same thing: only one of them is given. */
const SAME: readonly (readonly string[])[] = [
  ['domainId', 'domain'],
  ['mailboxId', 'address', 'webhookId', 'tokenId'],
  ['tokenId', 'passwordId'],
  ['deliveryId', 'messageId'],
];

/** Every argument of every operation that names something. */
export function references(): Reference[] {
  return EVERYTHING.flatMap((operation) =>
    [...new Set([...Object.keys(operation.input.shape), 'organizationId'])].flatMap((field) => {
      const value = REFERENCES[field];
      if (value === undefined || PLAIN[field]?.includes(operation.name) === true) return [];
      return [
        { operation, field, value: (of: Things) => value(of, operation.name), args: withField(operation, field) },
      ];
    }),
  );
}

function withField(operation: Operation, field: string): Reference['args'] {
  return (own, value) => {
    const args = sampleOf(operation, own);
    for (const other of SAME.find((names) => names.includes(field)) ?? []) delete args[other];
    if (operation.name === 'remove_email_forwarder' && field !== 'forwarderId') {
      const { sourceAddress, destinationAddress } = own;
      return { sourceAddress, destinationAddress, [field]: value };
    }
    // It takes one name of a message, whichever.
    if (operation.name === 'explain_decision' && ['messageId', 'outboxId'].includes(field)) return { [field]: value };
    if (operation.name === 'trace_message' && ['messageId', 'address', 'rfc822MessageId'].includes(field))
      return { [field]: value };
    return { ...args, [field]: value };
  };
}

/** Names of arguments that are a reference nowhere: whoever adds one has to say which it is. */
export const TEXTS: ReadonlySet<string> = new Set(
  `
    imap automatic policy days hours secondFactor singleSignOn actor operation target ownerEmail organizationName ownerDisplayName label publicKey signature query limit cursor name type
    localPart displayName quotaBytes reason password reveal confirm permanently scopes readOnly expiresAt url
    rfc822MessageId keepLocalCopy confirmExternal state alias env spec since revision email role actions
    peer verify receiverDomain use host port tls certificate username action waitSeconds until after events
    rotateSecret guardDuplicates from to cc bcc replyTo subject text html template headers attachments
    threadId listUnsubscribe tags metadata sendAt requireTls saveToSent idempotencyKey allowDuplicate dryRun
    version day failedOnly maxMessages note direction kind pattern dmarc keepRejects sender folder unreadOnly
    labels before format maxChars offset includeQuoted order sinceMessageId handle attachmentId mode addLabels
    removeLabels unread starred markRead minutes preset sends allow block holdAfterReading rulesWait budgets
    subjectContains toPlus timeoutSeconds expectFrom failIfApprovalNeeded replyAll quote includeAttachments
    hiddenImapCapabilities access filename contentType sizeBytes sha256 draftId person release participantsOnly uris bucket
  `
    .trim()
    .split(/\s+/),
);

export function isReference(field: string): boolean {
  return field in REFERENCES;
}

/** Where an argument takes text of any length: its path, and the sample with another text there. */
export interface TextArgument {
  operation: Operation;
  path: string;
  readonly args: (own: Things, text: string) => Args;
  /** A text that is good there, or '' where no sample has one. */
  readonly own: (of: Things) => string;
}

/** Every place in every input where a text can stand, in lists, keys and values of objects too. */
export function textArguments(): TextArgument[] {
  return EVERYTHING.flatMap((operation) =>
    [...Object.entries(operation.input.shape), ...(takesNoOrganization(operation) ? [ORGANIZATION] : [])].flatMap(
      ([field, schema]) =>
        shapes(inner(schema as z.ZodType)).map(([suffix, make]) => ({
          operation,
          path: `${field}${suffix}`,
          args: (own: Things, text: string) => withField(operation, field)(own, make(text)),
          own: (of: Things) => goodText(operation, field, of),
        })),
    ),
  );
}

function goodText(operation: Operation, field: string, of: Things): string {
  const good = sampleOf(operation, of)[field] ?? REFERENCES[field]?.(of, operation.name);
  const [text] = [good].flat();
  return typeof text === 'string' ? text : '';
}

const ORGANIZATION = ['organizationId', undefined] as const;

function takesNoOrganization(operation: Operation): boolean {
  return !('organizationId' in operation.input.shape);
}

function inner(schema: z.ZodType | undefined): { type: string } {
  let at = schema as unknown as { def: { type: string; innerType?: unknown; in?: unknown } } | undefined;
  while (at !== undefined && (at.def.innerType !== undefined || at.def.in !== undefined)) {
    at = (at.def.innerType ?? at.def.in) as typeof at;
  }
  return at?.def ?? { type: 'string' };
}

function shapes({ type }: { type: string }): [string, (text: string) => unknown][] {
  switch (type) {
    case 'array':
      return [['[]', (text) => [text]]];
    case 'record':
      return [
        ['{}', (text) => ({ KEY: text })],
        ['{key}', (text) => ({ [text]: 'value' })],
      ];
    default:
      return [['', (text) => text]];
  }
}
