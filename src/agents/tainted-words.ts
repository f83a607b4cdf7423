import type { Call, Operation } from '../core/operation.ts';
import { agentStatus } from './queries.ts';
import { hasTaintedWords, markWords } from './tainted-words-commands.ts';

interface WordChannel {
  /** Operations that store words of a token: names, notes, texts, addresses. */
  readonly writes: readonly string[];
  /** Operations that show them to another. */
  readonly reads: readonly string[];
}

/** Channels between tokens outside of messages, by the kind of words. A test compares them with the catalogue. */
export const WORD_CHANNELS: Readonly<Record<string, WordChannel>> = {
  templates: {
    writes: ['create_email_template', 'update_email_template'],
    reads: ['list_email_templates', 'get_email_template', 'send_email'],
  },
  labels: { writes: ['create_label', 'update_message'], reads: ['list_labels', 'create_label'] },
  organization: {
    writes: ['update_organization', 'create_project', 'create_service', 'deploy_service'],
    reads: [
      'get_organization',
      'list_projects',
      'list_services',
      'list_deleted_services',
      'restore_service',
      'list_deployments',
      'get_service_environment',
      'whoami',
    ],
  },
  /** Names of mailboxes within an account: IMAP and JMAP alone write and show them. */
  folders: { writes: [], reads: [] },
  mailboxes: {
    writes: ['provision_email', 'update_email', 'create_alias', 'update_alias'],
    reads: ['list_emails', 'list_deleted_emails', 'restore_email', 'list_aliases'],
  },
  /** Users and hosts of other servers. */
  imports: { writes: ['start_import'], reads: ['get_import'] },
  access: {
    writes: [
      'create_agent_token',
      'create_narrow_token',
      'create_email_api_key',
      'create_app_password',
      'register_recovery_key',
      'invite_member',
      'update_member',
    ],
    reads: [
      'list_agent_tokens',
      'list_email_api_keys',
      'list_app_passwords',
      'list_recovery_keys',
      'list_members',
      'whoami',
    ],
  },
  rules: {
    writes: [
      'add_sender_rule',
      'set_email_forwarder',
      'set_email_inbound_webhook',
      'create_webhook',
      'update_webhook',
      'add_suppression',
      'set_outbound_route',
      'add_email_domain',
    ],
    reads: [
      'list_sender_rules',
      'list_email_forwarders',
      'get_email_inbound_webhook',
      'list_webhooks',
      'list_suppressions',
      'list_webhook_deliveries',
      'list_dead_webhook_deliveries',
      'list_outbound_routes',
      'list_email_domains',
      'get_email_domain',
      'list_dns_records',
      'export_zone',
      'list_contacts',
      'get_contact',
    ],
  },
};

/** Shows what all tokens did, with their words. */
export const LOGS: readonly string[] = [
  'list_audit_events',
  'trace_message',
  'list_queue',
  'get_queue_item',
  'list_outbox',
  'get_outbox_item',
  'explain_decision',
  'list_proposals',
  'list_quarantine',
  'list_paused_senders',
];

/** Taints a token that is about to see words of a tainted one, before the operation and again before its result is shown. */
export async function taintByWords(call: Call, { name }: Operation, input: object): Promise<void> {
  const { caller, store, agents } = call;
  if (caller.token === undefined) return;
  const { tenant } = call;
  const kinds = channelsOf('reads', name, input);
  if (kinds.length > 0 && (await store.read(hasTaintedWords, { tenant, kinds }))) {
    await agents.onTextRead({ token: caller.token.id });
  }
}

/** Passes taint on between tokens: as {@link taintByWords}, and marks words that a tainted token is about to store. */
export async function passTaint(call: Call, operation: Operation, input: object): Promise<void> {
  const { name, hints } = operation;
  const { caller, store, clock } = call;
  if (caller.token === undefined) return;
  const { tenant } = call;
  await taintByWords(call, operation, input);
  if (hints.readOnly) return;
  const kinds = channelsOf('writes', name, input);
  if ((await store.read(agentStatus, { id: caller.token.id, now: clock() }))?.tainted !== true) return;
  if (!(await store.read(hasTaintedWords, { tenant, kinds, all: true })))
    await store.write(markWords, { tenant, kinds });
}

const KINDS = { reads: kindsBy('reads'), writes: kindsBy('writes') } as const;

function channelsOf(way: keyof WordChannel, name: string, input: object): readonly string[] {
  // Sends a text that another token may have written.
  if (name === 'send_email' && !('template' in input && input.template !== undefined))
    return way === 'reads' ? [] : ['log'];
  const kinds = KINDS[way].get(name) ?? [];
  return way === 'writes' || LOGS.includes(name) ? ['log', ...kinds] : kinds;
}

/** Kinds of words by operation. */
function kindsBy(way: keyof WordChannel): ReadonlyMap<string, readonly string[]> {
  const pairs = Object.entries(WORD_CHANNELS).flatMap(([kind, channel]) =>
    channel[way].map((name) => ({ kind, name })),
  );
  const byName = Map.groupBy(pairs, ({ name }) => name);
  return new Map([...byName].map(([name, all]) => [name, all.map(({ kind }) => kind)]));
}

/** Every kind of words. */
export const ALL_WORDS: readonly string[] = ['log', ...Object.keys(WORD_CHANNELS)];
