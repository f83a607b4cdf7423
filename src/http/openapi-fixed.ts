import { z } from 'zod';
import { bootstrapAccount } from '../operations/accounts/bootstrap-tools.ts';
import { EVENTS } from '../events/event-schemas.ts';
import { inputSchema, outputSchema } from '../operations/description.ts';
import { sendingPaths, type FixedPath } from './openapi-sending.ts';
import { getServiceEnvironment } from '../operations/services/environment.ts';

type Json = Record<string, unknown>;

/** Routes that are not operations: anonymous ones, the service environment and events. */
export function fixedPaths(): FixedPath[] {
  const own = [
    cataloguePath(),
    bootstrapPath(),
    claimPath(),
    recoveryStart(),
    recoveryComplete(),
    environmentPath(),
    eventsPath(),
  ];
  return [...own, ...sendingPaths()];
}

function cataloguePath(): FixedPath {
  const tools = { type: 'array', items: { type: 'object' } };
  const schema = { type: 'object', properties: { tools }, required: ['tools'] };
  return {
    path: '/api/tools',
    method: 'get',
    operation: {
      operationId: 'list_tools',
      summary: 'List tools',
      description: 'All operations that the caller may see, with their schemas. Read-only.',
      tags: ['core'],
      'x-action': 'anonymous',
      security: [{}, { token: [] }],
      responses: { 200: { description: 'Done', content: { 'application/json': { schema } } } },
    },
  };
}

function bootstrapPath(): FixedPath {
  return anonymous('/api/auth/bootstrap-account', {
    operationId: 'bootstrap_account',
    summary: bootstrapAccount.title,
    description: `${bootstrapAccount.description} 10 an hour per network address, 1 a day per mail address.`,
    input: inputSchema(bootstrapAccount),
    status: 201,
    output: outputSchema(bootstrapAccount),
  });
}

function claimPath(): FixedPath {
  return anonymous('/api/auth/claim', {
    operationId: 'claim_organization',
    summary: 'Claim an organization',
    description:
      'Uses a claim link, once, with a first password or the existing password of the address. Browsers get a session.',
    input: plain(
      z.strictObject({
        token: z.string().describe('the token of the link'),
        password: z.string().min(12).max(200),
        email: z.string().max(320).optional().describe('for a link without an owner address'),
      }),
    ),
    status: 200,
    output: plain(
      z.object({
        claimed: z.literal(true),
        organizationId: z.string(),
        userId: z.string(),
        addressProven: z.boolean(),
      }),
    ),
  });
}

function recoveryStart(): FixedPath {
  return anonymous('/api/auth/recovery/start', {
    operationId: 'start_recovery',
    summary: 'Start a recovery',
    description: 'Returns a challenge for an active recovery key. Changes nothing in the organization.',
    input: plain(z.strictObject({ organizationId: z.string(), keyId: z.string() })),
    status: 201,
    output: plain(
      z.object({
        recoveryId: z.string(),
        challenge: z.string().describe('32 octets, base64url'),
        encoding: z.literal('base64url'),
        algorithm: z.literal('Ed25519'),
        expiresAt: z.string(),
      }),
    ),
  });
}

function recoveryComplete(): FixedPath {
  return anonymous('/api/auth/recovery/complete', {
    operationId: 'complete_recovery',
    summary: 'Complete a recovery',
    description:
      'Returns a new owner token for the signed challenge; all other tokens of the organization are revoked.',
    input: plain(z.strictObject({ recoveryId: z.string(), signature: z.string() })),
    status: 200,
    output: plain(z.object({ organizationId: z.string(), token: z.string(), revokedTokens: z.number() })),
  });
}

function environmentPath(): FixedPath {
  const text = { schema: { type: 'string' }, example: 'EMAIL_ADDRESS=shop@example.com\n' };
  return {
    path: '/api/services/{serviceId}/env',
    method: 'get',
    operation: {
      operationId: getServiceEnvironment.name,
      summary: getServiceEnvironment.title,
      description: `${getServiceEnvironment.description} With "Accept: text/plain" as lines of an environment file.`,
      tags: [getServiceEnvironment.toolset],
      'x-action': getServiceEnvironment.action,
      parameters: [{ name: 'serviceId', in: 'path', required: true, schema: { type: 'string' } }],
      responses: {
        200: {
          description: 'The environment',
          content: { 'application/json': { schema: outputSchema(getServiceEnvironment) }, 'text/plain': text },
        },
      },
    },
  };
}

function eventsPath(): FixedPath {
  const text = { type: 'string' };
  const query = (name: string, description: string) => ({ name, in: 'query', schema: text, description });
  const shapes = Object.entries(EVENTS).map(([event, data]) => ({ title: event, ...plain(data) }));
  const cursor = 'the id of the last event, or the cursor of wait_for_email; default: now';
  return {
    path: '/api/events',
    method: 'get',
    operation: {
      operationId: 'follow_events',
      summary: 'Follow events',
      description: `Server-sent events, by name (${Object.keys(EVENTS).join(', ')}); each has an id from which a later stream resumes. Events contain no text from senders of mail. Read-only.`,
      tags: ['mail'],
      'x-action': 'mail_read',
      parameters: [
        query('mailbox', 'id or address; default: all mailboxes that the token may see'),
        query('since', cursor),
        { name: 'Last-Event-ID', in: 'header', schema: text, description: 'the same, overrides since' },
      ],
      responses: {
        200: {
          description: 'A stream; `data` of each event is one of these',
          content: { 'text/event-stream': { schema: { oneOf: shapes } } },
        },
      },
    },
  };
}

function anonymous(
  path: string,
  of: {
    operationId: string;
    summary: string;
    description: string;
    input: Json;
    status: number;
    output: Json;
  },
): FixedPath {
  const { input, status, output, ...words } = of;
  return {
    path,
    method: 'post',
    operation: {
      ...words,
      tags: ['core'],
      'x-action': 'anonymous',
      security: [],
      requestBody: { required: true, content: { 'application/json': { schema: input } } },
      responses: { [status]: { description: 'Done', content: { 'application/json': { schema: output } } } },
    },
  };
}

function plain(schema: z.ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema);
  return rest;
}
