import type { Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/caller.ts';
import type { AppContext } from '../../core/app-context.ts';

const reading = () => import('./read.ts');
const prompting = () => import('./prompts.ts');
const completing = () => import('./complete.ts');

/** Registers resources, prompts and completion for one caller. Loads their modules on demand. */
export function serveResources(context: AppContext, server: Server, caller: Caller): void {
  server.setRequestHandler('resources/list', async () => (await (await reading()).listResources(caller)) as never);
  server.setRequestHandler(
    'resources/templates/list',
    async () => (await (await reading()).listResourceTemplates(caller)) as never,
  );
  server.setRequestHandler(
    'resources/read',
    async ({ params }) => (await (await reading()).readResource(context, caller, params.uri)) as never,
  );
  server.setRequestHandler('prompts/list', async () => (await prompting()).listPrompts() as never);
  server.setRequestHandler(
    'prompts/get',
    async ({ params }) => (await prompting()).getPrompt(params.name, params.arguments ?? {}) as never,
  );
  server.setRequestHandler(
    'completion/complete',
    async ({ params: { argument } }) =>
      (await (await completing()).complete(context, caller, argument.name, argument.value)) as never,
  );
}
