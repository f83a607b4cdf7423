import { formatBytes, formatTable } from './output.ts';
import { withoutArguments, oneArgument, operationCall, type Verb, type VerbInput } from './verb.ts';

interface DeletedMailbox {
  id: string;
  address: string;
  usedBytes: number;
  restorableUntil: string;
}

interface DeletedService {
  id: string;
  name: string;
  restorableUntil: string;
}

interface Deleted {
  address?: string;
  serviceId?: string;
  restorableUntil: string | null;
}

/** One argument under this name, and whether to purge at once. */
const removal =
  (name: string) =>
  (args: readonly string[], { permanently = false }: VerbInput): object | undefined => {
    const given = oneArgument(name)(args, { stdin: () => '' });
    return given && { ...given, permanently };
  };

const deleted = ({ address, serviceId, restorableUntil }: Deleted): string =>
  `${address ?? serviceId ?? ''} is deleted${restorableUntil === null ? ' permanently' : `, can be restored until ${restorableUntil}`}`;

const lines = (first: string, notRestored: readonly string[], steps: readonly string[]): string =>
  [first, ...notRestored.map((one) => `not restored: ${one}`), ...steps].join('\n');

/** Commands to delete mailboxes and services, and to restore them. */
export const DELETION_VERBS: readonly Verb[] = [
  {
    words: 'mailbox delete',
    usage: 'ADDRESS [--permanently] [--org ID]',
    about: 'Delete a mailbox; it can be restored for 30 days',
    options: ['permanently', 'org'],
    parse: operationCall('delete_email', removal('address')),
    show: deleted,
  },
  {
    words: 'mailbox deleted',
    usage: '[--org ID]',
    about: 'List deleted mailboxes that can be restored',
    options: ['org'],
    parse: operationCall('list_deleted_emails', withoutArguments),
    pages: 'deletedMailboxes',
    show: ({ deletedMailboxes }: { deletedMailboxes: DeletedMailbox[] }) =>
      formatTable(
        ['id', 'address', 'size', 'purged on'],
        deletedMailboxes.map((one) => [one.id, one.address, formatBytes(one.usedBytes), one.restorableUntil]),
      ),
  },
  {
    words: 'mailbox restore',
    usage: 'ADDRESS [--org ID]',
    about: 'Restore a deleted mailbox; app passwords and tokens stay revoked',
    options: ['org'],
    parse: operationCall('restore_email', oneArgument('address')),
    show: (done: { mailbox: { address: string }; notRestored: string[]; nextSteps: string[] }) =>
      lines(`${done.mailbox.address} is restored`, done.notRestored, done.nextSteps),
  },
  {
    words: 'service delete',
    usage: 'ID [--permanently] [--org ID]',
    about: 'Delete a service; it can be restored for 30 days',
    options: ['permanently', 'org'],
    parse: operationCall('delete_service', removal('serviceId')),
    show: deleted,
  },
  {
    words: 'service deleted',
    usage: '[--org ID]',
    about: 'List deleted services that can be restored',
    options: ['org'],
    parse: operationCall('list_deleted_services', withoutArguments),
    pages: 'deletedServices',
    show: ({ deletedServices }: { deletedServices: DeletedService[] }) =>
      formatTable(
        ['id', 'name', 'purged on'],
        deletedServices.map(({ id, name, restorableUntil }) => [id, name, restorableUntil]),
      ),
  },
  {
    words: 'service restore',
    usage: 'ID [--org ID]',
    about: 'Restore a deleted service and start its program; its tokens stay revoked',
    options: ['org'],
    parse: operationCall('restore_service', oneArgument('serviceId')),
    show: (done: { service: { id: string; name: string }; notRestored: string[]; detail: string }) =>
      lines(`${done.service.id} ${done.service.name} is restored`, done.notRestored, [done.detail]),
  },
];
