import type { Method } from '../../method.ts';
import { blobCopy } from './blob-copy.ts';
import { blobGet } from './blob-get.ts';
import { blobLookup } from './blob-lookup.ts';
import { blobUpload } from './blob-upload.ts';

export const BLOB_METHODS: readonly Method[] = [blobCopy, blobUpload, blobGet, blobLookup];
