import type { Method } from '../../method.ts';
import { emailQuery } from './email-query.ts';
import { emailQueryChanges } from './email-query-changes.ts';
import { searchSnippetGet } from './search-snippet-get.ts';

export const EMAIL_QUERY_METHODS: readonly Method[] = [emailQuery, emailQueryChanges, searchSnippetGet];
