/** Resolve hook of `npm test -- --name`: a test file that imports `uvu` gets `named-test.mjs` in its place. */
const namedTest = new URL('./named-test.mjs', import.meta.url).href;

export async function resolve(specifier, context, nextResolve) {
  const found = await nextResolve(specifier, context);
  const isUvu = found.url.endsWith('/uvu/dist/index.mjs');
  return isUvu && context.parentURL !== namedTest ? { url: namedTest, shortCircuit: true } : found;
}
