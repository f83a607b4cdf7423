import type { Operation } from '../operation.ts';
import { createLabel, deleteLabel, listLabels } from './labels.ts';

export const LABELS: readonly Operation[] = [listLabels, createLabel, deleteLabel];
