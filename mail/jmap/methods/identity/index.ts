import type { Method } from '../../method.ts';
import { identityChangesMethod } from './identity-changes.ts';
import { identityGet } from './identity-get.ts';
import { identitySet } from './identity-set.ts';

export const IDENTITY_METHODS: readonly Method[] = [identityGet, identityChangesMethod, identitySet];
