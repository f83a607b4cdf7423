import { z } from 'zod';
import { addDeviceLink } from '../../client-setup/device-commands.ts';
import { secretUrl } from '../../notices/secret-pages.ts';
import { newSecret } from '../../people/secrets.ts';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { isoOf, Line, SECRET_NOTICE } from '../../core/schemas.ts';
import { mailboxOf } from '../scope.ts';
import { MailboxArguments } from './shown.ts';

export const createDeviceLink = operation({
  name: 'create_device_link',
  title: 'Create a link that sets up a device',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  peopleOnly: true,
  secret: true,
  description:
    'Creates a link to set up one phone or computer. Its first use within an hour creates an app password for that device.',
  hints: {},
  input: z.strictObject({ ...MailboxArguments, name: Line(1, 80).describe('Name of the device') }),
  output: z.object({ url: z.string(), expiresAt: z.string(), secretNotice: z.string() }),
  async run(call, { name, ...which }) {
    const { id: account, address } = await mailboxOf(call, which);
    const { secret, hash } = newSecret();
    const input = { hash, account, address, name, by: call.caller.actor };
    const { expiresAt } = await call.change(addDeviceLink, input, publicId('mailbox', account), { name });
    const url = secretUrl(call.baseUrl, 'device', { token: secret });
    return { url, expiresAt: isoOf(expiresAt), secretNotice: SECRET_NOTICE };
  },
});
