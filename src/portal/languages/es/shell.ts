import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about the frame of all pages: header, menu, footer, errors, buttons and common fields. */
export const shell = {
  'layout.skip': 'Ir al contenido',
  'layout.sign-out': 'Cerrar sesión',
  'layout.search': 'Buscar',
  'layout.organization': 'Organización',
  'layout.organization-of': 'Organización: {name}',
  'layout.organizations': 'Organizaciones',
  'layout.pending': 'pendientes',
  'layout.language': 'Idioma',
  'layout.language-browser': 'El idioma del navegador',
  'layout.for-agents': 'Para agentes',
  'layout.more': 'Más',

  'table.actions': 'Acciones',

  'heading.Mail': 'Correo',
  'heading.Programs': 'Programas',
  'heading.Organization': 'Organización',
  'heading.This server': 'Este servidor',

  'button.home': 'Página de inicio',
  'button.sign-in': 'Iniciar sesión',
  'button.continue': 'Continuar',
  'button.reload': 'Volver a cargar la página',
  'button.set-password': 'Establecer contraseña',

  'state.active': 'Activo',
  'state.off': 'Desactivado',

  'role.owner': 'Propietario',
  'role.admin': 'Administrador',
  'role.member': 'Miembro',

  'field.optional': 'opcional',
  'field.address': 'Dirección de correo',
  'field.password': 'Contraseña',
  'field.new-password': 'Nueva contraseña',
  'field.new-password-hint': {
    one: 'Al menos {count} carácter. Una frase de varias palabras es buena.',
    other: 'Al menos {count} caracteres. Una frase de varias palabras es buena.',
  },
  'field.your-password': 'Su contraseña',
  'field.not-fresh': 'Inició sesión hace más de 15 minutos.',
  'field.wrong-current': 'La contraseña actual es incorrecta.',
  'field.set-password-first':
    'Inició sesión hace más de 15 minutos y no tiene contraseña. Establezca una en «Su cuenta».',
  'field.bad-address': 'No es una dirección de correo válida.',
  'field.wrong-account-password': 'Contraseña incorrecta para la cuenta con esta dirección.',
  'field.password-short': { one: 'Use al menos {count} carácter.', other: 'Use al menos {count} caracteres.' },
  'field.password-long': { one: 'Use como máximo {count} carácter.', other: 'Use como máximo {count} caracteres.' },
  'field.password-control': 'Una contraseña no puede contener caracteres de control.',

  'error.no-changes': 'No se cambió nada',
  'error.stale-form':
    'El formulario es anterior a su inicio de sesión. Vuelva a cargar la página e inténtelo de nuevo.',
  'error.foreign-form':
    'El formulario vino de otro sitio, o el navegador no envió el origen. Abra la página en este sitio e inténtelo de nuevo.',
  'error.large-form': 'El formulario supera los 64 KiB.',
  'error.no-form': 'El navegador no envió un formulario.',
  'error.internal': 'Error interno',
  'error.internal-text': 'Error interno; quedó registrado. Inténtelo de nuevo en un momento.',
  'error.too-many': 'Demasiadas solicitudes',
  'error.flooded': 'Demasiadas solicitudes desde su red. Inténtelo de nuevo en {wait}.',
  'error.too-many-passwords': 'Demasiadas contraseñas incorrectas desde su red. Inténtelo de nuevo en {wait}.',
  'error.too-many-codes': 'Demasiados códigos incorrectos. Inténtelo de nuevo en {wait}.',
  'error.busy': 'Demasiados inicios de sesión a la vez. Inténtelo de nuevo en unos segundos.',
  'error.insecure': 'Conexión sin cifrar',
  'error.insecure-text': 'Las contraseñas solo se aceptan por HTTPS. Abra la misma página con https.',
  'error.insecure-link': 'Continuar con HTTPS',
  'error.not-found': 'Página no encontrada',
  'error.not-found-text': 'Esta página no existe, o no tiene acceso a su organización.',
  'error.dashboard': 'Volver al resumen',

  'link.missing': 'Enlace no válido',
  'link.missing-text':
    'El enlace está incompleto o es desconocido. Copie la dirección completa del correo o solicite un enlace nuevo.',
  'link.used': 'Enlace ya usado',
  'link.used-text':
    'Un enlace funciona una vez. Si lo usó, inicie sesión. Si no lo usó, avise al operador de este servidor de correo.',
  'link.expired': 'Enlace caducado',
  'link.expired-text': 'Pida un enlace nuevo al remitente. Para restablecer la contraseña, solicítelo usted.',
  'link.taken': 'Organización ya reclamada',
  'link.taken-text': 'Ya se usó un enlace para reclamar esta organización. Si fue usted, inicie sesión.',
  'link.frozen': 'Organización bloqueada',
  'link.frozen-text':
    'El operador de este servidor de correo ha bloqueado esta organización. Contacte con el operador.',
} satisfies Partial<PortalCatalog>;
