import type { FastifyInstance } from 'fastify';
import { type Door, send } from './door.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';

/** `/billing`: where set_payment_method leads on a box whose operator set no other place. */
export function billingRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/billing', async (request, reply) => {
      const body = html`<h1>Nothing to pay here</h1>
        <p>This mail server asks for no payment. Everything works without a payment method, and none can be entered.</p>
        <p><a class="button" href="/">Go on</a></p>`;
      return send({ ...door, request, reply }, narrowPage({ title: 'Nothing to pay', body }));
    });
  };
}
