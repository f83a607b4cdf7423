import { mailParts } from '../mail/parts.ts';
import type { ThreadParts } from '../mail/store/engine/thread.ts';
import { AGENTS } from './agents/parts-commands.ts';
import { auditHeads } from './agents/pin-queries.ts';
import { auditedCommand, noteAudit } from './audit/commands.ts';
import { brokenAudit } from './audit/queries.ts';
import { auditedMoves } from './approvals/move-commands.ts';
import { APPROVALS } from './approvals/parts-commands.ts';
import { BOOTSTRAP } from './bootstrap/parts-commands.ts';
import { CANARIES } from './canaries/parts-commands.ts';
import { DIGEST } from './digest/parts-commands.ts';
import { digestDue, undoableChanges } from './digest/due-queries.ts';
import { agentsDay } from './digest/queries.ts';
import { DOMAINS } from './domains/parts-commands.ts';
import { MAILBOXES } from './mailboxes/parts-commands.ts';
import { MCP } from './mcp/parts-commands.ts';
import { applianceMigrations } from './migrations.ts';
import { freezeOrganization, renameOrganization, seedOperator } from './organizations/commands.ts';
import { removeOrganization } from './organizations/removal-commands.ts';
import { OAUTH } from './oauth/parts-commands.ts';
import { PEOPLE } from './people/parts-commands.ts';
import { SENDING } from './sending/parts-commands.ts';
import { inboundWebhookBody } from './webhooks/inbound-queries.ts';
import { SERVICES } from './services/parts-commands.ts';
import { UNSUBSCRIBE } from './unsubscribe/parts-commands.ts';
import { addFirstToken } from './tokens/first-token-commands.ts';
import { addToken, revokeToken, stampSecrets } from './tokens/commands.ts';
import { addNarrowToken, forgetNarrowTokens } from './tokens/narrow-commands.ts';
import { undoTokens } from './tokens/undo-commands.ts';

/** Commands, queries and migrations of the engine and of the appliance's areas. */
export function storeParts(): ThreadParts {
  const mail = mailParts();
  const commands = [
    ...auditedMoves(mail.commands),
    ...AGENTS,
    ...APPROVALS,
    ...BOOTSTRAP,
    ...CANARIES,
    ...DIGEST,
    ...DOMAINS,
    ...MAILBOXES,
    ...MCP,
    ...OAUTH,
    ...PEOPLE,
    ...SENDING,
    ...SERVICES,
    ...UNSUBSCRIBE,
    addFirstToken,
    addNarrowToken,
    addToken,
    forgetNarrowTokens,
    freezeOrganization,
    noteAudit,
    removeOrganization,
    renameOrganization,
    revokeToken,
    seedOperator,
    stampSecrets,
    undoTokens,
  ];
  return {
    commands: [...commands, auditedCommand(commands)],
    queries: [...mail.queries, agentsDay, auditHeads, brokenAudit, digestDue, inboundWebhookBody, undoableChanges],
    migrations: [...mail.migrations, ...applianceMigrations()],
  };
}
