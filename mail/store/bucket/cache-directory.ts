/** Directory of the cached messages of a bucket, in the data directory. */
export const CACHE_DIRECTORY = 'blob-cache';
