import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { generatePassword } from '../../../mail/login/password.ts';
import { ITERATIONS, SALT_BYTES } from '../../../mail/login/verifier.ts';
import { type Address, addressKey, formatAddress, parseAddress } from '../../../mail/message/address.ts';
import { isReservedAddress } from '../../../mail/store/account/account-restoration.ts';
import { ownCredential } from '../../accounts/new-credential.ts';
import { countMailboxes } from '../../domains/queries.ts';
import { updateManaged } from '../../domains/look.ts';
import { publicId } from '../../core/ids.ts';
import { provisionMailbox } from '../../mailboxes/commands.ts';
import { isRoleName } from '../../mailboxes/role-names.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { variableNames } from '../../services/environment.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, Line, InProject, DomainName } from '../../core/schemas.ts';
import { findOwnDomain, projectOf, serviceOf } from '../scope.ts';
import { attachable } from '../policies/target.ts';
import { disclosesName, lookContext } from '../domains/context.ts';
import { DisplayName, Mailbox, mailboxNow } from './shown.ts';

export const provisionEmail = operation({
  name: 'provision_email',
  title: 'Create a mailbox',
  toolset: 'email',
  core: true,
  reach: 'project',
  action: 'manage',
  description:
    'Creates the mailbox localPart@domain for IMAP, SMTP and JMAP. With attachServiceId the service gets its EMAIL_* variables. Returns no password: use reveal_email_credentials. Mail flows once the domain is verified.',
  hints: {},
  // The service gets its password; the address of a deleted mailbox gets mail meant for that one.
  rule: async (call, { attachServiceId, localPart, ...where }) =>
    attachServiceId === undefined && !isRoleName(localPart) && !(await isReserved(call, localPart, where))
      ? undefined
      : [],
  input: z.strictObject({
    projectId: InProject,
    domain: DomainName.optional(),
    domainId: Id('domain').optional(),
    localPart: Line(1, 64).describe('Part before the @'),
    attachServiceId: Id('service').optional(),
    displayName: DisplayName.describe('Name in From').optional(),
    agentPolicyId: Id('policy').optional(),
    quotaBytes: z
      .number()
      .int()
      .min(1_000_000)
      .max(2 ** 50)
      .describe('Bytes; default: no limit')
      .optional(),
  }),
  output: z.object({
    mailbox: Mailbox,
    attached: z.object({ serviceId: z.string(), variables: z.array(z.string()) }).nullable(),
    dnsStatus: z.enum(['verified', 'unverified']),
  }),
  rest: { method: 'POST', path: '/api/email/mailboxes', status: 201 },
  async run(call, input) {
    const domain = await domainOnboarded(call, input);
    const project = input.projectId === undefined ? domain.project : (await projectOf(call, input.projectId)).id;
    const service = input.attachServiceId === undefined ? undefined : await serviceOf(call, input.attachServiceId);
    const address = addressAt(input.localPart, domain.name);
    const policy = input.agentPolicyId === undefined ? null : await attachable(call, input.agentPolicyId);
    const before = await call.store.read(countMailboxes, { domain: domain.id });
    const account = await make(call, { ...input, address, domain: domain.id, project, service: service?.id, policy });
    if (service !== undefined) await rewriteEnvFiles(call, [service.id]);
    if (before === 0 && !(await disclosesName(call, domain)))
      await updateManaged(lookContext(call, domain.name), domain);
    const mailbox = await mailboxNow(call, account);
    return {
      mailbox,
      attached:
        service === undefined
          ? null
          : { serviceId: publicId('service', service.id), variables: [...variableNames('')] },
      dnsStatus: mailbox.dnsStatus,
    };
  },
});

async function domainOnboarded(call: Call, input: { domain?: string | undefined; domainId?: string | undefined }) {
  try {
    return await findOwnDomain(call, input);
  } catch (error) {
    if (input.domain === undefined || !isNotFound(error)) throw error;
    return refuse(
      'domain_not_onboarded',
      `${input.domain} is not a domain of this organization: call add_email_domain first.`,
      {
        domain: input.domain,
      },
    );
  }
}

async function isReserved(
  call: Call,
  localPart: string,
  where: { domain?: string | undefined; domainId?: string | undefined },
): Promise<boolean> {
  const { name } = await domainOnboarded(call, where);
  const address = parseAddress(`${localPart}@${name}`);
  return address !== undefined && call.store.read(isReservedAddress, { tenant: call.tenant, key: addressKey(address) });
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'refusal' in error && (error.refusal as { error: string }).error === 'not_found';
}

function addressAt(localPart: string, domain: string): Address {
  const address = parseAddress(`${localPart}@${domain}`);
  if (address?.domain === domain && !localPart.includes('+') && !localPart.includes('@')) return address;
  const why = localPart.includes('+')
    ? 'mail to every +tag of an address is delivered to it anyway'
    : 'it is not a valid local part';
  return refuse('invalid_arguments', `localPart: ${why}.`, { issues: [{ path: 'localPart', message: why }] });
}

async function make(
  call: Call,
  input: {
    address: Address;
    domain: number;
    project: number;
    service: number | undefined;
    policy: number | null;
    displayName?: string | undefined;
    quotaBytes?: number | undefined;
  },
): Promise<number> {
  const salt = randomBytes(SALT_BYTES);
  const wanted = { password: generatePassword(), salt, iterations: ITERATIONS };
  const credential = await ownCredential(call.secrets, wanted);
  if (credential === undefined) throw new Error('a generated password was not accepted');
  const address = formatAddress(input.address);
  const row = {
    tenant: call.tenant,
    domain: input.domain,
    address,
    key: addressKey(input.address),
    salt,
    iterations: ITERATIONS,
    credential,
    project: input.project,
    displayName: input.displayName ?? null,
    quotaBytes: input.quotaBytes ?? null,
    policy: input.policy,
    attach: input.service === undefined ? null : { service: input.service, alias: '' },
  };
  const done = await call.change(provisionMailbox, row, address);
  switch (done.kind) {
    case 'added':
      return done.account;
    case 'address-taken':
      return refuse(
        'already_exists',
        `${address} already exists as a mailbox or an alias: see list_emails and list_aliases.`,
        { resource: 'mailbox' },
      );
    case 'alias-taken':
      return refuse(
        'conflict',
        'The service already has a mailbox under the plain EMAIL_* names: create this one without attachServiceId, then attach it with an alias.',
        { resource: 'service' },
      );
    case 'no-domain':
      return notFound('domain');
    case 'no-service':
      return notFound('service');
  }
}
