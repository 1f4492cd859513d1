// Starts `codelode lsp` for the folders of the window, and stops it with them.
const { commands, window, workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function start() {
  const settings = workspace.getConfiguration('codelode');
  const run = { command: settings.get('path'), args: ['lsp'] };
  client = new LanguageClient('codelode', 'codelode', run, {
    documentSelector: [{ scheme: 'file' }],
    initializationOptions: { possibleReferences: settings.get('possibleReferences') },
  });
  return client.start().catch((problem) => {
    window.showErrorMessage(`codelode does not start: ${problem.message}. Is the program installed? See codelode.path.`);
  });
}

async function restart() {
  await client?.stop().catch(() => undefined);
  await start();
}

exports.activate = (context) => {
  context.subscriptions.push(commands.registerCommand('codelode.restart', restart));
  context.subscriptions.push(
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('codelode') && restart()),
  );
  return start();
};

exports.deactivate = () => client?.stop();
