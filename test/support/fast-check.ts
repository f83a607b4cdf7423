import { configureGlobal } from 'fast-check';

/** Each run sees the same cases, unless a property names a seed of its own; FUZZ_SEED looks at others. */
configureGlobal({ seed: Number(process.env['FUZZ_SEED'] ?? 20_261_122) });

export * from 'fast-check';
