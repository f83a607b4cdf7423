import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about policies of agents. */
export const policies = {
  'policy.made': 'Política creada. No tiene efecto hasta que la asigne a un buzón o token.',
  'policy.changed': 'Política cambiada. Se aplica a partir del próximo mensaje.',
  'policy.attached': 'Política asignada.',
  'policy.removed': 'Política eliminada.',
  'policy.about':
    'Reglas sobre lo que los agentes pueden hacer solos, lo que necesita aprobación y lo que está bloqueado. Si un token y su buzón tienen una política cada uno, se aplica la más estricta.',
  'policy.none': 'No hay políticas',
  'policy.none-text':
    'Sin política, un agente puede escribir a cualquiera. El correo a destinatarios nuevos necesita aprobación cuando el agente ha leído contenido no fiable.',

  'policy.unattached': 'Sin asignar.',
  'policy.attached-to': 'Asignada a {names}.',
  'policy.token': 'token {name}',
  'policy.may': 'Permitido',
  'policy.waits': 'Necesita aprobación',
  'policy.never': 'Bloqueado',
  'policy.remove-question': 'Elimina {name}.',
  'policy.change-question': 'Se aplica a partir del próximo mensaje, donde esta política esté asignada.',

  'policy.recipients': 'Destinatarios permitidos',
  'policy-sends.preset': 'Lo que diga la plantilla',
  'policy-sends.anybody': 'Cualquiera',
  'policy-sends.replies': 'Solo respuestas',
  'policy-sends.allowed': 'Solo la lista de permitidos',
  'policy-sends.nobody': 'Nadie',
  'policy.allow-list': 'Lista de permitidos',
  'policy.allow-hint':
    'Direcciones o dominios. El correo a ellos nunca necesita aprobación por el contenido que el agente haya leído.',
  'policy.block-list': 'Lista de bloqueados',
  'policy-waits.hold': 'Correo a destinatarios nuevos, después de leer contenido no fiable',
  'policy-waits.rules': 'Reenvíos, webhooks, remitentes permitidos, tokens, claves y contraseñas',

  'policy.attach-title': 'Asignar una política',
  'policy.attach-about':
    'La contraseña de un buzón con política cuenta como la de un agente. Si usted también usa el buzón, cree antes una contraseña de aplicación para usted.',
  'policy.attach': 'Asignar política',
  'policy.target': 'Buzón o token',
  'policy.name': 'Política',
  'policy.detach': 'Ninguna (quitar la asignación)',

  'policy.create-title': 'Crear una política',
  'policy.create-another': 'Crear otra política',
  'policy.create': 'Crear política',
  'policy.preset': 'Plantilla',
  'policy-preset.internal': 'Interna, de confianza: escribe a cualquiera, destinatarios nuevos limitados',
  'policy-preset.support': 'Soporte: solo respuestas',
  'policy-preset.sign-up': 'Bot de registro: recibe correo y códigos, no envía nada',
  'policy-preset.custom': 'Personalizada',
} satisfies Partial<PortalCatalog>;
