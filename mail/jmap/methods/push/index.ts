import type { Method } from '../../method.ts';
import { pushSubscriptionGet } from './push-subscription-get.ts';
import { pushSubscriptionSet } from './push-subscription-set.ts';

export const PUSH_METHODS: readonly Method[] = [pushSubscriptionGet, pushSubscriptionSet];
