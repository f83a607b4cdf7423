import { z } from 'zod';
import { bootstrapAccount } from '../operations/accounts/bootstrap-tools.ts';
import { EVENTS } from '../events/shapes.ts';
import { inputSchema, outputSchema } from '../operations/description.ts';
import { sendingPaths } from './openapi-sending.ts';
import { getServiceEnvironment } from '../operations/services/environment.ts';

type Json = Record<string, unknown>;

export interface FixedPath {
  path: string;
  method: 'get' | 'post' | 'put' | 'delete';
  /** An OpenAPI operation without the refusals that all have. */
  what: Json;
}

/** Routes beside the catalogue: those for who has no token yet, and the environment that a service reads. */
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
    what: {
      operationId: 'list_tools',
      summary: 'List tools',
      description: 'Every operation that the caller may know of, with its schemas. Changes nothing.',
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
      'Opens a claim link, once, by a first password or by the one that the address has here. Browsers get a session.',
    input: plain(
      z.strictObject({
        token: z.string().describe('what the link carries'),
        password: z.string().min(12).max(200),
        email: z.string().max(320).optional().describe('for a link that names nobody'),
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
    summary: 'Begin a recovery',
    description: 'Answers a challenge for an active recovery key. Changes nothing in the organization.',
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
      'Answers a new owner token for the signed challenge; every other token of the organization is revoked.',
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
    what: {
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
    what: {
      operationId: 'follow_events',
      summary: 'Follow what happens',
      description: `Server-sent events, by name (${Object.keys(EVENTS).join(', ')}); each has an id with which a later stream goes on behind it. Nothing in them is written by senders of mail. Changes nothing.`,
      tags: ['mail'],
      'x-action': 'mail_read',
      parameters: [
        query('mailbox', 'id or address; default: all that the token may see'),
        query('since', cursor),
        { name: 'Last-Event-ID', in: 'header', schema: text, description: 'the same, and goes before since' },
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
    what: {
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
