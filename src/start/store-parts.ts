import { mailParts } from '../../mail/store-thread-parts.ts';
import type { ThreadParts } from '../../mail/store/engine/thread.ts';
import type { Command } from '../../mail/store/engine/types.ts';
import * as agentPins from '../agents/pin-commands.ts';
import { auditHeads } from '../agents/pin-queries.ts';
import * as agentProposals from '../agents/proposal-commands.ts';
import * as taintedWords from '../agents/tainted-words-commands.ts';
import * as approvals from '../approvals/commands.ts';
import { auditedMoves } from '../approvals/move-commands.ts';
import { auditedCommand, recordAuditEvent } from '../audit/commands.ts';
import { agentActs, firstBrokenAuditRow, searchAudit } from '../audit/queries.ts';
import * as bootstrap from '../bootstrap/commands.ts';
import * as canaryTrips from '../canaries/trip-commands.ts';
import * as certificates from '../certificates/commands.ts';
import * as health from '../doctor/health-commands.ts';
import * as portEvidence from '../doctor/port-commands.ts';
import * as deviceLinks from '../client-setup/device-commands.ts';
import * as dnsProviders from '../dns-providers/commands.ts';
import * as dnsDrift from '../domains/drift-commands.ts';
import * as digest from '../digest/commands.ts';
import { agentsDay, digestDue, undoableChanges } from '../digest/queries.ts';
import * as domains from '../domains/commands.ts';
import * as ownStsPolicies from '../domains/sts-commands.ts';
import * as domainLookups from '../domains/lookup-commands.ts';
import * as history from '../history/commands.ts';
import * as mailboxes from '../mailboxes/commands.ts';
import * as mailboxDeletion from '../mailboxes/deletion-commands.ts';
import * as memberMail from '../webmail-sessions/member-commands.ts';
import * as mailSessions from '../webmail-sessions/commands.ts';
import * as ownMailSessions from '../webmail-sessions/own-session-commands.ts';
import * as mcpSessions from '../mcp/session-commands.ts';
import * as oauthClients from '../oauth/client-commands.ts';
import * as oauthCodes from '../oauth/code-commands.ts';
import * as oauthGrants from '../oauth/grant-commands.ts';
import * as organizations from '../organizations/commands.ts';
import * as organizationDeletion from '../organizations/deletion-commands.ts';
import * as organizationRemoval from '../organizations/removal-commands.ts';
import * as claims from '../people/claim-commands.ts';
import * as invitations from '../people/invite-commands.ts';
import * as members from '../people/member-commands.ts';
import * as people from '../people/commands.ts';
import * as devices from '../people/device-commands.ts';
import * as passwords from '../people/password-commands.ts';
import * as recoveryCodes from '../people/code-commands.ts';
import * as factorRules from '../people/rule-commands.ts';
import * as passkeys from '../people/passkey-commands.ts';
import * as providerSignIns from '../people/provider-commands.ts';
import * as pendingSignIns from '../people/pending-commands.ts';
import * as portalSessions from '../people/session-commands.ts';
import * as totps from '../people/totp-commands.ts';
import * as recovery from '../recovery/commands.ts';
import * as reportAlarms from '../reports/alarm-commands.ts';
import * as reports from '../reports/commands.ts';
import * as outgoingReports from '../reports/outgoing-commands.ts';
import { failingSources } from '../reports/alarm-queries.ts';
import * as reportPolicies from '../reports/policy-commands.ts';
import { dmarcDays, dmarcSources, reporters, tlsDays, tlsSums } from '../reports/queries.ts';
import * as forwardConfirmations from '../sending/confirmation-commands.ts';
import * as drafts from '../sending/draft-commands.ts';
import * as forwarders from '../sending/forwarder-commands.ts';
import * as heldMail from '../sending/held-commands.ts';
import * as apiKeys from '../sending/key-commands.ts';
import * as pauses from '../sending/pause-commands.ts';
import { cancelSent, moveSent, sendEmail, withdrawWaiting } from '../sending/sent-commands.ts';
import * as templates from '../sending/template-commands.ts';
import * as uploads from '../sending/upload-commands.ts';
import * as serviceAttachments from '../services/attachment-commands.ts';
import * as services from '../services/commands.ts';
import * as serviceDeletion from '../services/deletion-commands.ts';
import * as tokens from '../tokens/commands.ts';
import * as firstToken from '../tokens/first-token-commands.ts';
import * as tokenModes from '../tokens/mode-commands.ts';
import * as narrowTokens from '../tokens/narrow-commands.ts';
import * as tokenUndo from '../tokens/undo-commands.ts';
import * as unsubscribe from '../unsubscribe/commands.ts';
import * as webhookAttempts from '../webhooks/commands.ts';
import { inboundWebhookBody } from '../webhooks/inbound-queries.ts';
import { failingWebhooks, longFailingWebhooks } from '../webhooks/queries.ts';
import * as webhooks from '../webhooks/webhook-commands.ts';
import { applianceMigrations } from '../core/migrations.ts';

/** Files whose exported commands are the appliance's. */
const COMMAND_FILES: readonly object[] = [
  agentPins,
  agentProposals,
  taintedWords,
  approvals,
  bootstrap,
  canaryTrips,
  certificates,
  deviceLinks,
  digest,
  dnsDrift,
  dnsProviders,
  domains,
  domainLookups,
  health,
  portEvidence,
  ownStsPolicies,
  history,
  mailboxes,
  mailboxDeletion,
  mailSessions,
  ownMailSessions,
  memberMail,
  mcpSessions,
  oauthClients,
  oauthCodes,
  oauthGrants,
  organizations,
  organizationDeletion,
  organizationRemoval,
  claims,
  invitations,
  members,
  devices,
  people,
  passwords,
  recoveryCodes,
  factorRules,
  passkeys,
  pendingSignIns,
  providerSignIns,
  portalSessions,
  totps,
  recovery,
  outgoingReports,
  reportAlarms,
  reports,
  reportPolicies,
  forwardConfirmations,
  drafts,
  forwarders,
  heldMail,
  apiKeys,
  pauses,
  templates,
  uploads,
  serviceAttachments,
  services,
  serviceDeletion,
  tokens,
  firstToken,
  tokenModes,
  narrowTokens,
  tokenUndo,
  unsubscribe,
  webhookAttempts,
  webhooks,
];

/** Commands, queries and migrations of the engine and of the appliance's areas. */
export function storeParts(): ThreadParts {
  const mail = mailParts();
  const sent = [cancelSent, moveSent, sendEmail, withdrawWaiting];
  const commands = [...auditedMoves(mail.commands), recordAuditEvent, ...sent, ...COMMAND_FILES.flatMap(commandsIn)];
  return {
    commands: [...commands, auditedCommand(commands)],
    queries: [
      ...mail.queries,
      agentActs,
      agentsDay,
      auditHeads,
      firstBrokenAuditRow,
      digestDue,
      failingWebhooks,
      inboundWebhookBody,
      longFailingWebhooks,
      searchAudit,
      undoableChanges,
      dmarcDays,
      dmarcSources,
      failingSources,
      reporters,
      tlsDays,
      tlsSums,
    ],
    migrations: [...mail.migrations, ...applianceMigrations()],
    hooks: mail.hooks,
  };
}

function commandsIn(file: object): Command<never, unknown>[] {
  return Object.values(file).filter((one: Partial<Command<never, unknown>>) => one.kind === 'command');
}
