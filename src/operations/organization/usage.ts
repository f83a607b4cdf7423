import { z } from 'zod';
import { organizationUse } from '../../organizations/usage-queries.ts';
import { operation } from '../operation.ts';

export const getUsage = operation({
  name: 'get_usage',
  title: 'What this organization uses',
  toolset: 'billing',
  reach: 'organization',
  action: 'read',
  description:
    'Counts what this organization has: domains, mailboxes, stored messages and octets, services, queued mail. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    domains: z.number(),
    mailboxes: z.number(),
    messages: z.number(),
    storedBytes: z.number(),
    services: z.number(),
    queued: z.number(),
  }),
  run: (call) => call.store.read(organizationUse, { organization: call.tenant }),
});
