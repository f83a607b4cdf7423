import type { Operation } from '../../core/operation.ts';
import { getContact, listContacts } from './contacts.ts';

export const CONTACTS: readonly Operation[] = [listContacts, getContact];
