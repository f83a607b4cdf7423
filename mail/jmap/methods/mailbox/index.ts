import type { Method } from '../../method.ts';
import { mailboxChangesMethod } from './mailbox-changes.ts';
import { mailboxGet } from './mailbox-get.ts';
import { mailboxQuery } from './mailbox-query.ts';
import { mailboxQueryChanges } from './mailbox-query-changes.ts';
import { mailboxSet } from './mailbox-set.ts';

export const MAILBOX_METHODS: readonly Method[] = [
  mailboxGet,
  mailboxChangesMethod,
  mailboxQuery,
  mailboxQueryChanges,
  mailboxSet,
];
