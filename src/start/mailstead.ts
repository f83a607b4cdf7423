import { runCommandLine } from '../cli/main.ts';

// Loads the server for `serve` only, so that other commands start fast.
process.exitCode = await runCommandLine(process.argv.slice(2), async (argv, env) => {
  const { serve } = await import('./main.ts');
  await serve(argv, env);
});
