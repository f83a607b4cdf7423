import type { Operation } from '../../core/operation.ts';
import { addSenderRuleOf, listSenderRules, removeSenderRuleOf } from './rules.ts';

export const SENDER_RULES: readonly Operation[] = [addSenderRuleOf, listSenderRules, removeSenderRuleOf];
