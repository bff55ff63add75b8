import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import preact from '@preact/preset-vite'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

/** Writes each script and style compressed as well. The server sends what the browser takes. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        if (!/\.(js|css)$/.test(fileName)) continue
        const content = file.type === 'chunk' ? file.code : file.source
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
        const emit = (as: string, source: Uint8Array) =>
          this.emitFile({ type: 'asset', fileName: `${fileName}.${as}`, source })
        emit('br', brotliCompressSync(content, { params }))
        emit('gz', gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
      }
    },
  },
}

// Addresses of assets are relative: the server mounts the inbox below any path.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  // The sources of the other packages: nothing has to be built first.
  resolve: { conditions: ['@pawl/source', ...defaultClientConditions] },
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false }), compressed],
  build: {
    target: 'es2022',
    // The CSP allows no inline script and no data: URL for one.
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    emptyOutDir: true,
  },
  logLevel: 'warn',
})
