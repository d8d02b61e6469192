"""One small file a figure of a paper: `get_figure()` gives its `PaperFigure`.

`python -m training.figures --figure=NAME` trains what the file declares and draws it. A file says

- which runs it needs: a `training.tabulating.paper.Table`, as the files of training/tables have it: title,
  paper, the recipe of each data set, and a `Row` for each model. A figure of costs alone has no rows.
- `measure`, where the picture shows more than accuracies: a function that takes a
  `training.visualizing.paper_figure.Trained` (the finished models by row, their epochs, test images, the
  folder of runs) and gives a dict: texts, numbers and lists go to the JSON file, NumPy arrays, such as
  pictures and maps, to an .npz file beside it.
- `draw`: a function that takes that dict, with the `results` of all rows as "rows", and gives a matplotlib
  figure (`command_line.plots.new_figure`). It sees nothing but what the files hold. Lines of accuracy over
  an argument of the models are drawn by `training.visualizing.curves.lines`, models as points by
  `points.draw`, their epochs by `epochs.draw`.

hsvit_figure5.py is the pattern of figures of accuracy, hsvit_figure4.py of those of what a model computes.
"""
