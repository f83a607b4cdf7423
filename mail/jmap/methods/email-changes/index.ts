import type { Method } from '../../method.ts';
import { emailChangesMethod } from './email-changes.ts';

export const EMAIL_CHANGES_METHODS: readonly Method[] = [emailChangesMethod];
